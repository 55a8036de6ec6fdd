// The examples below the help of each command, by the words of the command; the program's own have no word.

const EXAMPLES: Record<string, readonly string[]> = {
  '': ['sandbridge init', 'sandbridge doctor', 'sandbridge exec -c "1 + 1"'],
  run: ['sandbridge run', 'sandbridge run --http 127.0.0.1:3910'],
  exec: [
    'sandbridge exec -c "print(runtime.capability_summary())"',
    'sandbridge exec report.py --servers github,files --images charts',
    'echo "2 ** 10" | sandbridge exec -',
  ],
  shell: ['sandbridge shell', 'sandbridge shell --images charts'],
  servers: ['sandbridge servers', 'sandbridge servers --sources', 'sandbridge servers diff'],
  search: ['sandbridge search "create issue"', 'sandbridge search "read csv" --limit 3 --json'],
  find: ['sandbridge find "pull requests"', 'sandbridge find weather --limit 3 --json'],
  add: ['sandbridge add io.github.owner/weather', 'sandbridge add --from ./server.json --dry-run'],
  remove: ['sandbridge remove weather'],
  update: ['sandbridge update', 'sandbridge update weather --dry-run'],
  tools: ['sandbridge tools github', 'sandbridge tools github create_issue'],
  artifacts: ['sandbridge artifacts', 'sandbridge artifacts show report.csv > report.csv'],
  'artifacts list': ['sandbridge artifacts list --json'],
  'artifacts show': ['sandbridge artifacts show report.csv 2 > second.csv'],
  'artifacts rm': ['sandbridge artifacts rm report.csv'],
  saved: ['sandbridge saved', 'sandbridge saved show open_issues'],
  'saved list': ['sandbridge saved list --json'],
  'saved show': ['sandbridge saved show open_issues 2'],
  'saved rm': ['sandbridge saved rm open_issues'],
  'saved export': ['sandbridge saved export tools.json open_issues'],
  'saved import': ['sandbridge saved import tools.json'],
  workflows: ['sandbridge workflows --json'],
  'run-workflow': ['sandbridge run-workflow weekly-report --week 47', 'sandbridge run-workflow weekly-report --check'],
  schedule: ['sandbridge schedule weekly-report "0 8 * * 1" --print systemd'],
  export: ['sandbridge export weekly-report report.csv -o bundle.sbx', 'sandbridge export weekly-report --notebook'],
  import: ['sandbridge import bundle.sbx --dry-run'],
  profile: ['sandbridge profile', 'sandbridge profile set work github jira'],
  'profile list': ['sandbridge profile list --json'],
  'profile set': ['sandbridge profile set work github jira'],
  'profile rm': ['sandbridge profile rm work'],
  index: ['sandbridge index'],
  approve: ['sandbridge approve', 'sandbridge approve 0123456789abcdef --answer yes'],
  permissions: ['sandbridge permissions', 'sandbridge permissions import claude-code'],
  'permissions list': ['sandbridge permissions list --json'],
  'permissions check': [`sandbridge permissions check github__create_issue '{"owner": "acme"}'`],
  'permissions import': ['sandbridge permissions import claude-code', 'sandbridge permissions import codex --yes'],
  trust: ['sandbridge trust', 'sandbridge trust --list'],
  login: ['sandbridge login linear', 'sandbridge login linear --no-browser'],
  logout: ['sandbridge logout linear'],
  init: ['sandbridge init --client claude-code', 'sandbridge init --move', 'sandbridge init --undo'],
  log: ['sandbridge log --since 2h', 'sandbridge log --follow --server github', 'sandbridge log --verify'],
  top: ['sandbridge top', 'sandbridge top --json'],
  doctor: ['sandbridge doctor', 'sandbridge doctor --deep', 'sandbridge doctor --fix --report doctor.json'],
  image: ['sandbridge image build data'],
  'image build': ['sandbridge image build', 'sandbridge image build data'],
  completion: [
    'source <(sandbridge completion bash)',
    'sandbridge completion zsh > "${fpath[1]}/_sandbridge"',
    'sandbridge completion fish > ~/.config/fish/completions/sandbridge.fish',
  ],
}

/** As help shows them; an empty text for a command without. */
export function examplesText(command: string): string {
  const lines = EXAMPLES[command] ?? []
  return lines.length === 0 ? '' : `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`
}
