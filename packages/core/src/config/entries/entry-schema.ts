// The schemas of a server's entry; schema/servers.schema.json is generated from them. In a message, {field} stands for
// the field's name; values are never quoted. For unknown fields see `whyUnrestricted`. Pure.
import * as z from 'zod'
import { rulesSchema } from '../rules/permissions-schema.ts'
import { isRecord, withoutUndefined } from '../../util/json/json.ts'
import { isHttpUrl } from '../../util/net/loopback.ts'

/** All names of transports in config files. */
export const TRANSPORTS = new Map<string, 'stdio' | 'http' | 'sse'>([
  ['stdio', 'stdio'],
  ['local', 'stdio'],
  ['http', 'http'],
  ['remote', 'http'],
  ['streamable-http', 'http'],
  ['streamable_http', 'http'],
  ['streamablehttp', 'http'],
  ['sse', 'sse'],
])

let built: ReturnType<typeof build> | undefined

/** Built for the first entry, so that a bridge without servers does not spend time on it. */
export function entrySchemas(): ReturnType<typeof build> {
  return (built ??= build())
}

type Read = { [K in keyof ReturnType<typeof build>]: z.infer<ReturnType<typeof build>[K]> }

/** The fields of an entry under this project's names, to which readers map their clients'. Values are unchecked. */
export type ServerEntry = Partial<
  Record<keyof (Read['common'] & Read['stdio'] & Read['remote']) | OtherField, unknown>
> & {
  /** Why only the client itself could start it. */
  unusable?: string
}
type OtherField = 'type' | 'disabled' | 'enabled' | 'permissions' | 'inputs' | 'sandboxEnabled' | 'oauth'

/** What a jailed server may see and reach. Paths and domains may contain placeholders. */
export type ServerSandbox = Exclude<Read['stdio']['sandbox'], false | undefined>

/** A client of an authorization server, for the OAuth client credentials grant. */
export type ClientCredentials = Read['clientCredentials']

/** What an entry says of the sign-in of a user in a browser. Without a `clientId`, the bridge registers itself. */
export type SignInClient = Partial<Read['registered']>

/** A value that only the user knows, `${input:ID}` in a text of the transport, and how to ask for it. */
export type ServerInput = NonNullable<NonNullable<Read['inputs']>[number]>

function build() {
  const { text, required, filled, texts, table, port, timeout } = fields()
  const lenient = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined)

  const option = z.union([z.string(), z.object({ value: z.string() }).transform(({ value }) => value)])
  const input = z
    .object({
      id: z.string().describe('Texts of the server refer to it as ${input:ID}.'),
      type: z.enum(['promptString', 'pickString', 'command']).catch('promptString'),
      description: lenient(z.string().regex(/\S/)).describe('What the user is asked.'),
      password: lenient(z.literal(true)).describe('Do not show what is typed.'),
      options: lenient(z.array(lenient(option))).describe('The answers of a pickString.'),
    })
    .transform(({ options = [], type, ...asked }) => {
      const answers = type === 'pickString' ? options.filter((one) => one !== undefined) : []
      const isText = type === 'pickString' && answers.length === 0
      return withoutUndefined({
        ...asked,
        type: isText ? ('promptString' as const) : type,
        options: answers.length > 0 ? answers : undefined,
      })
    })

  const inputs = lenient(z.array(lenient(input)))

  const notUnderstood = 'has a {field} that is not understood: see docs/jail.md'
  const filesystem = z
    .strictObject(
      {
        allowRead: texts.describe('Folders and files that it may read although they are in a hidden place.'),
        allowWrite: texts.describe('Folders that it may write to.'),
        denyRead: texts.describe('Folders and files that it may not see.'),
        denyWrite: texts.describe('Parts of allowWrite that it may only read.'),
      },
      notUnderstood,
    )
    .transform(withoutUndefined)
  const network = z
    .strictObject(
      {
        allowedDomains: texts
          .transform((domains) => domains ?? [])
          .describe('Hosts that it may reach: api.example.com, *.example.com, or * for all of the internet.'),
        deniedDomains: texts.describe('Hosts that it may not reach. This wins over allowedDomains.'),
      },
      notUnderstood,
    )
    .transform(withoutUndefined)
  const jail = z
    .strictObject(
      {
        filesystem: orMissing(filesystem).describe('What it may read and write beside its private home folder.'),
        network: orMissing(z.union([z.boolean(), network], notUnderstood)).describe(
          'true is the network of this machine; the default is no network.',
        ),
        image: text.describe(
          'A container image. The server runs in a container of it, with the programs of the image.',
        ),
      },
      notUnderstood,
    )
    .transform(withoutUndefined)
  const sandbox = z
    .union([z.boolean(), jail], notUnderstood)
    .nullish()
    .transform((value): z.infer<typeof jail> | false | undefined => (value === true ? {} : (value ?? undefined)))

  // Problems are reported in the order of these fields.
  const common = z.object({
    includeTools: texts.describe('The only tools to offer. * in a name stands for any text.'),
    excludeTools: texts.describe('Tools to leave out. This wins over includeTools.'),
    startTimeoutMs: timeout.describe('How long the server may take to start, in milliseconds.'),
    callTimeoutMs: timeout.describe('How long one call may take, in milliseconds.'),
    atOnce: orMissing(
      z
        .int('has a {field} that is not a whole number above 0')
        .min(1, 'has a {field} that is not a whole number above 0'),
    ).describe('How many calls it may answer at once: 1 for a server that mixes up parallel calls.'),
    trusted: lenient(z.boolean()).describe('Its text is your own: flow rules do not ask because of it.'),
    description: lenient(z.string().trim()).describe('What the server is for. The model reads it.'),
    direct: orMissing(
      z.union([z.boolean(), texts], 'has a {field} that is neither true, false nor a list of tools'),
    ).describe('Also list its tools, or those named, to the client by themselves. * in a name stands for any text.'),
    repeat: lenient(z.literal('always')).describe('Repeat its calls: see docs/once.md.'),
    shared: lenient(z.boolean()).describe(
      'Whether clients share one process of this server. false: one for each client. true: one for all, whatever their folder.',
    ),
  })
  const stdio = z.object({
    cwd: text.describe('The folder that the server is started in.'),
    envFile: text.describe('A file of NAME=value lines that adds to env.'),
    command: required.describe('The program.'),
    args: texts.transform((args) => args ?? []).describe('Its arguments.'),
    env: table.describe('Environment variables. ${NAME} stands for a variable of your environment.'),
    inheritEnv: texts.describe('Names of your environment variables that the server gets.'),
    sandbox: sandbox.describe('Run it in a jail. false keeps it out of the jail of MCP_BRIDGE_JAIL=all.'),
  })
  const remote = z.object({
    // A placeholder may stand for any part of the URL, so only a URL without placeholders is checked.
    url: required
      .refine((url) => url.includes('${') || isHttpUrl(url), 'has a {field} that is not an http or https address')
      .describe('The address of the server, http or https.'),
    headers: table.describe('Headers of every request. ${NAME} stands for a variable of your environment.'),
    headersHelper: filled.describe('A command that prints further headers as a JSON object, run for each connection.'),
  })

  const scopes = {
    scope: text.describe('What to ask for, separated by spaces.'),
    scopes: texts.describe('The same as a list.'),
  }
  const clientCredentials = z
    .object({
      grant: z.literal('client_credentials').describe('The bridge signs in by itself.'),
      ...scopes,
      issuer: text.describe('The authorization server that the client is registered with.'),
      clientId: required,
      clientSecret: required.describe('Write ${NAME} or ${file:PATH} instead of the secret.'),
    })
    .transform(({ clientId, clientSecret, issuer, ...asked }) =>
      withoutUndefined({ clientId, clientSecret, issuer, scope: scopeOf(asked) }),
    )
  const address = filled.refine(
    (url) => url === undefined || url.includes('${') || isHttpUrl(url),
    'has a {field} that is not an http or https address',
  )
  const signIn = {
    ...scopes,
    issuer: filled.describe('The authorization server that you trust, as its metadata name it.'),
    authServerMetadataUrl: address.describe('Where its metadata are, if the server does not say it.'),
    authorizationUrl: address.describe('Its page for signing in, if it publishes no metadata. Needs tokenUrl.'),
    tokenUrl: address.describe('Its token endpoint, if it publishes no metadata. Needs authorizationUrl.'),
    resource: filled.describe('What the tokens are for (RFC 8707), if it is not what the server says.'),
    callbackPort: port('has an invalid {field}: expected a port')
      .nullish()
      .describe('The port on which to wait for the answer to the sign-in.'),
    redirectUri: filled.describe('The redirect address of the client, such as http://localhost/callback.'),
  }
  type SignIn = z.infer<z.ZodObject<typeof signIn>>
  const asSignIn = ({
    scope,
    scopes: list,
    callbackPort,
    redirectUri = callbackPort ? `http://127.0.0.1:${callbackPort}/callback` : undefined,
    ...named
  }: SignIn) => ({
    ...named,
    redirectUri,
    scope: scopeOf({ scope, scopes: list }),
  })
  const areBoth = ({ authorizationUrl, tokenUrl }: SignIn): boolean =>
    (authorizationUrl === undefined) === (tokenUrl === undefined)
  const onlyOne = 'has only one of oauth.authorizationUrl and oauth.tokenUrl: both are needed'
  const registered = z
    .object({
      clientId: required.describe('A client that you have registered, for a sign-in in the browser.'),
      clientSecret: filled,
      ...signIn,
    })
    .refine(areBoth, onlyOne)
    .transform(({ clientId, clientSecret, ...asked }) =>
      withoutUndefined({ clientId: clientId.trim(), clientSecret, ...asSignIn(asked) }),
    )
  const unregistered = z
    .object(signIn)
    .refine(areBoth, onlyOne)
    .transform((asked) => withoutUndefined(asSignIn(asked)))
  return { inputs, common, stdio, remote, clientCredentials, registered, unregistered }
}

/** The JSON Schema of a whole file, for completion and checks in editors. */
export function serversJsonSchema(): object {
  const { inputs, common, stdio, remote, clientCredentials, registered, unregistered } = entrySchemas()
  const typed = (isOfType: (type: string) => boolean) => ({
    type: z.enum([...TRANSPORTS].flatMap(([name, type]) => (isOfType(type) ? [name] : []))).optional(),
    disabled: z.boolean().optional().describe('true leaves the server out.'),
    ...common.shape,
    permissions: rulesSchema().optional().describe('Rules about calls of its tools.'),
    inputs: inputs.describe('How to ask for what only the user knows, in the form of VS Code.'),
  })
  const oauth = z.union([clientCredentials, registered, unregistered]).optional()
  const entry = z.union([
    stdio.extend(typed((type) => type === 'stdio')),
    remote.extend({
      ...typed((type) => type !== 'stdio'),
      oauth: oauth.describe('How to sign in, where the server does not say it.'),
    }),
  ])
  const file = z.object({
    $schema: z.string().optional(),
    description: z.string().optional().describe('For servers without a description.'),
    mcpServers: z.record(z.string(), entry).describe('Servers by name.'),
  })
  return { title: 'MCP servers for Sandbridge', ...z.toJSONSchema(file, { io: 'input', target: 'draft-7' }) }
}

function scopeOf({ scope, scopes }: { scope?: string | undefined; scopes?: string[] | undefined }): string | undefined {
  return (scopes?.join(' ') ?? scope)?.trim() || undefined
}

const orMissing = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)

/** The types of fields. Null counts as missing. */
function fields() {
  const withoutNul = (value: unknown): boolean => typeof value !== 'string' || !value.includes('\0')
  const plain = z
    .string({ error: ({ input }) => (input == null ? 'has no {field}' : 'has a {field} that is not text') })
    .refine(withoutNul, 'has a {field} with a NUL character in it')
  const text = orMissing(plain)
  const scalar = z
    .union([z.string(), z.number(), z.boolean()], 'has a non-text value in {field}')
    .refine(withoutNul, 'has a NUL character in {field}')
    .transform(String)
  const port = (message: string) =>
    z
      .union([z.number(), z.string().regex(/^\d+$/).transform(Number)], message)
      .pipe(z.int(message).min(1, message).max(65_535, message))
  return {
    text,
    required: plain.refine((value) => value.trim() !== '', 'has no {field}'),
    // Forms in a program's UI leave an empty text for a missing value.
    filled: text.transform((value) => value?.trim() || undefined),
    texts: orMissing(z.array(scalar, 'has invalid {field}: expected a list')),
    // A map instead of z.record, so that a key such as __proto__ is an ordinary key.
    table: z
      .unknown()
      .optional()
      .meta({ type: 'object', additionalProperties: { type: ['string', 'number', 'boolean', 'null'] } })
      .transform((value) => (isRecord(value) ? new Map(Object.entries(value)) : (value ?? new Map())))
      .pipe(z.map(z.string(), scalar.nullish(), 'has invalid {field}: expected a table of names and texts'))
      .transform((map) =>
        Object.fromEntries([...map].flatMap(([key, value]) => (value == null ? [] : [[key, value]]))),
      ),
    port,
    timeout: orMissing(
      z
        .number('has a {field} that is not a number above 0')
        .positive('has a {field} that is not a number above 0')
        // The maximum delay of a timer.
        .transform((ms) => Math.min(Math.round(ms), 2 ** 31 - 1)),
    ),
  }
}
