// Usual locations of secrets and of programs, relative to the home folder. Pure.

/** Keys, sign-ins, histories, browser profiles, and settings of MCP clients, which hold other servers' secrets. */
export const SECRET_PLACES: readonly string[] = words(
  '.ssh .gnupg .aws .azure .oci .kube .docker .config/containers .config/gcloud .config/gh .config/glab-cli .config/hub',
  '.config/doctl .config/op .config/sops .config/rclone .password-store .local/share/keyrings .vault-token .terraform.d',
  '.netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .git-credentials .config/git/credentials .cargo/credentials.toml',
  '.bash_history .zsh_history .python_history .node_repl_history .local/share/fish .psql_history',
  '.mozilla .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi',
  '.config/opera .thunderbird .config/Signal .config/Slack .config/discord .local/share/TelegramDesktop',
  '.claude .claude.json .codex .gemini .cursor .codeium .copilot .cline .kiro .lmstudio .config/Claude .config/Code',
  '.config/Cursor .config/VSCodium .config/Windsurf .config/zed .config/goose .config/opencode .config/amp',
)

/** Program folders of version managers and installers, without secrets: npx, uvx and similar programs must be found. */
export const PROGRAM_PLACES: readonly string[] = words(
  '.nvm .volta .fnm .local/share/fnm .asdf .local/share/mise .nodenv .nodebrew .bun/bin .deno/bin .local/share/pnpm',
  '.pyenv .local/share/uv/python .local/share/uv/tools .local/share/pipx .rye .cargo/bin .rustup .rbenv .sdkman',
  'miniconda3 anaconda3 miniforge3 go/bin .local/bin bin .local/lib .dotnet .nix-profile .local/state/nix',
)

/** Files in a writable folder that other programs execute or obey. They stay read-only. */
export const OBEYED_FILES: readonly string[] = words(
  '.git/hooks .git/config .vscode .idea .zed .claude .cursor .codex .gemini .kiro .amp .github/mcp.json .mcp.json',
  'opencode.json opencode.jsonc .envrc .bashrc .zshrc .profile .bash_profile .zprofile .gitconfig .gitmodules',
)

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
