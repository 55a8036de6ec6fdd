// The variables that a stdio server gets beside its own. A test compares them with docs/configuration.md.
import type { Environment } from '../settings/client-context.ts'

/** Enough to find programs, the home folder and the locale. */
const BASICS =
  process.platform === 'win32'
    ? 'APPDATA HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES ' +
      'PROGRAMFILES(X86) PROGRAMW6432 PYTHONIOENCODING PYTHONUTF8 SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME ' +
      'USERPROFILE WINDIR'
    : 'HOME LANG LC_ALL LC_CTYPE LOGNAME PATH SHELL TERM TMPDIR TZ USER'

/** Without these, a server behind a company proxy can neither be downloaded nor reach anything. */
export const NETWORK_VARIABLES = {
  proxies: words(
    'HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy all_proxy no_proxy',
    'NODE_USE_ENV_PROXY npm_config_proxy npm_config_https_proxy npm_config_noproxy PIP_PROXY',
  ),
  certificates: words(
    'SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
    'GIT_SSL_CAINFO AWS_CA_BUNDLE PIP_CERT npm_config_cafile UV_NATIVE_TLS UV_SYSTEM_CERTS DENO_CERT DENO_TLS_CA_STORE',
    'NIX_SSL_CERT_FILE',
  ),
  registries: words(
    'npm_config_registry NPM_CONFIG_REGISTRY npm_config_userconfig NPM_CONFIG_USERCONFIG',
    'PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST PIP_CONFIG_FILE',
    'UV_INDEX_URL UV_EXTRA_INDEX_URL UV_INDEX UV_DEFAULT_INDEX UV_CONFIG_FILE UV_PYTHON_INSTALL_MIRROR',
  ),
  caches: words('npm_config_cache NPM_CONFIG_CACHE PIP_CACHE_DIR UV_CACHE_DIR XDG_CACHE_HOME'),
}

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '))
}

const PASSED_VARIABLES: readonly string[] = [...words(BASICS), ...Object.values(NETWORK_VARIABLES).flat()]

export function passedEnvironment(env: Environment): Record<string, string> {
  // Otherwise, Python reads and writes its pipes in the code page of Windows.
  const passed: Record<string, string> = process.platform === 'win32' ? { PYTHONIOENCODING: 'utf-8' } : {}
  for (const name of PASSED_VARIABLES) {
    const value = env[name]
    // Such a value is an exported function of an old bash, which would run in the child.
    if (value !== undefined && !value.startsWith('()')) passed[name] = value
  }
  return passed
}
