// Usual locations of secrets and of programs, relative to the home folder; those of MCP clients from their readers.
import { CLIENT_READERS } from '@sandbridge/clients/readers/client-readers.ts'
import { OWN_READERS } from '@sandbridge/core/config'

const READERS = [...OWN_READERS, ...CLIENT_READERS]

/** Keys, sign-ins, histories, browser profiles, and settings of MCP clients, which hold other servers' secrets. */
export const SECRET_PLACES: readonly string[] = [
  ...new Set([
    ...words(
      '.ssh .gnupg .aws .azure .oci .kube .docker .config/containers .config/gcloud .config/gh .config/glab-cli .config/hub',
      '.config/doctl .config/op .config/sops .config/rclone .password-store .local/share/keyrings .vault-token .terraform.d',
      '.netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .git-credentials .config/git/credentials .cargo/credentials.toml',
      '.bash_history .zsh_history .python_history .node_repl_history .local/share/fish .psql_history',
      '.mozilla .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge .config/vivaldi',
      '.config/opera .thunderbird .config/Signal .config/Slack .config/discord .local/share/TelegramDesktop',
    ),
    ...READERS.flatMap(({ closed }) => closed.home),
  ]),
]

/** Program folders of version managers and installers, without secrets: npx, uvx and similar programs must be found. */
export const PROGRAM_PLACES: readonly string[] = words(
  '.nvm .volta .fnm .local/share/fnm .asdf .local/share/mise .nodenv .nodebrew .bun/bin .deno/bin .local/share/pnpm',
  '.pyenv .local/share/uv/python .local/share/uv/tools .local/share/pipx .rye .cargo/bin .rustup .rbenv .sdkman',
  'miniconda3 anaconda3 miniforge3 go/bin .local/bin bin .local/lib .dotnet .nix-profile .local/state/nix',
)

/**
 * Files and folders of a project that programs obey, most of them without asking: git, editors, agents, direnv. In a
 * folder that a jailed server may write to, they stay read-only, and it cannot create them.
 */
export const OBEYED_PLACES: readonly string[] = [
  ...new Set([...words('.git .envrc .husky .devcontainer .idea'), ...READERS.flatMap(({ closed }) => closed.project)]),
]

/**
 * The same where they exist. Programs that find a folder in place of a missing one of these fail, or nothing obeys a
 * new one.
 */
export const OBEYED_IF_THERE: readonly string[] = words(
  '.sandbridge opencode.json opencode.jsonc crush.json .crush.json librechat.yaml',
  '.bashrc .zshrc .profile .bash_profile .zprofile .gitconfig .gitmodules',
)

/** Of a repository whose `.git` a definition opens by name, where they exist. */
export const OBEYED_IN_GIT: readonly string[] = words('hooks config config.worktree modules worktrees')

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}
