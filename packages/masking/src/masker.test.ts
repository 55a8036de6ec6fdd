import { expect, it } from 'vitest'
import { MAX_NESTING } from '../../core/src/util/json/line-cost.ts'
import { tryParseExact } from '../../core/src/util/json/parse-exact.ts'
import { MASK_KINDS } from '../../core/src/config/settings/sandbox.ts'
import { createMaskers } from './part.ts'
import { customRecogniser } from './custom-pattern.ts'
import { maskData } from './mask-data.ts'
import { maskResult } from './mask-result.ts'
import { Masker } from './masker.ts'
import { RECOGNISERS } from './recognisers.ts'
import { EMPTY_RESULT } from '@sandbridge/core/test/support/servers/empty-result.ts'

const WEB_TOKEN = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.dozjgNryP4J3jVmNHl0w5N'

const masker = (patterns: { name: string; pattern: string }[] = []) =>
  createMaskers({ kinds: MASK_KINDS, patterns }).of({})

it.each([
  ['write to alice.smith+x@mail.example.com.', 'write to [EMAIL_1].'],
  ['<münchen@bücher.example>', '<[EMAIL_1]>'],
  ['call +49 (30) 123-45 67 now', 'call [PHONE_1] now'],
  ['call (415) 555-0100', 'call [PHONE_1]'],
  ['card 4111 1111 1111 1111, 5500005555555559', 'card [CARD_1], [CARD_2]'],
  ['card 4111 1111 1111 1111 12/27 123', 'card [CARD_1] 12/27 123'],
  ['4111111111111111 123', '[CARD_1] 123'],
  ['3456 4111 1111 1111 1111', '3456 [CARD_1]'],
  ['1 3782-822463-10005 12', '1 [CARD_1] 12'],
  ['4111 1111 1111 1112 4111 1111 1111 1111', '4111 1111 1111 1112 [CARD_1]'],
  ['2223003122003222', '[CARD_1]'],
  ['to DE89 3704 0044 0532 0130 00 today', 'to [IBAN_1] today'],
  ['gb82west12345698765432', '[IBAN_1]'],
  ['KD10 DE89 3704 0044 0532 0130 00', 'KD10 [IBAN_1]'],
  ['RE24 DE89370400440532013000 x', 'RE24 [IBAN_1] x'],
  ['DE89-3704-0044-0532-0130-00.', '[IBAN_1].'],
  ['"joh\u0301n@mail.example" jose\u0301@mail.example', '"[EMAIL_1]" [EMAIL_2]'],
  ['to alice@mu\u0308nchen.example.', 'to [EMAIL_1].'],
  ['user@डाटामेल.भारत, संपर्क@डाटामेल.भारत', '[EMAIL_1], [EMAIL_2]'],
  ['to "john doe"@mail.example now', 'to [EMAIL_1] now'],
  [String.raw`{"to": "\"john doe\"@mail.example"}`, '{"to": "[EMAIL_1]"}'],
  ['+49 30 / 123456, +49 (0)30 / 12345-67', '[PHONE_1], [PHONE_2]'],
  ['client:2001:db8::1 x', 'client:[IP_1] x'],
  ['peer_addr:fe80::1%eth0', 'peer_addr:[IP_1]%eth0'],
  ['from 93.184.216.34 and 2606:2800:220:1::1', 'from [IP_1] and [IP_2]'],
  ['key ghp_0123456789abcdefghij0123456789abcdef', 'key [SECRET_1]'],
  ['redis://me:hunter22@localhost/0', 'redis://me:[SECRET_1]@localhost/0'],
  ['mysql://root:p@ssw0rd1@db.internal/x', 'mysql://root:[SECRET_1]@db.internal/x'],
  [
    'smtp://ann@acme.com:p:a@ss@w0rd@mail.acme.com:25 bob@acme.com',
    'smtp://[EMAIL_1]:[SECRET_1]@mail.acme.com:25 [EMAIL_2]',
  ],
  ['"redis://:p%40ss@w0rd@db.internal","b@x.example"', '"redis://:[SECRET_1]@db.internal","[EMAIL_1]"'],
  [
    'http://x.example:80/@ann@acme.com https://x.example/?to=bob@acme.com',
    'http://x.example:80/@[EMAIL_1] https://x.example/?to=[EMAIL_2]',
  ],
  ['The password is Tr4velQz. --token Tr4velQz1 x', 'The password is [SECRET_1]. --token [SECRET_2] x'],
  [
    '<td>Secret</td><td>Tr4velQz</td> **Password:** `Tr4velQz`',
    '<td>Secret</td><td>[SECRET_1]</td> **Password:** `[SECRET_1]`',
  ],
  ['password: |\n  Tr4velQz\nPassword for ann: Tr4velQz', 'password: |\n  [SECRET_1]\nPassword for ann: [SECRET_1]'],
  [
    "WITH PASSWORD 'Tr4velQz'; tokens of gpt4turbo, token 2026-11-29",
    "WITH PASSWORD '[SECRET_1]'; tokens of gpt4turbo, token 2026-11-29",
  ],
  [
    'SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0...',
    '[SECRET_1] [SECRET_2]...',
  ],
  [String.raw`ann\_lee@acme.com ghp\_0123456789abcdefghij0123456789abcdef`, '[EMAIL_1] [SECRET_1]'],
  ['password = "correct horse"', 'password = "correct horse"'],
  ['{"password": "string", "password": "must", "p": "w x"}', '{"password": "string", "password": "must", "p": "w x"}'],
  [
    `{"pass": "hunter22xx", 'bearer': 'Tr4velQz'} SMTP_PASS: hunter22xx redisPw=hunter2 pass=Tr4velQz`,
    `{"pass": "[SECRET_1]", 'bearer': '[SECRET_2]'} SMTP_PASS: [SECRET_1] redisPw=[SECRET_3] pass=[SECRET_2]`,
  ],
  [
    '{"pass": "required", "bearer": "2026-11-29"} PASS: tests/test_1.py pass: gpt4turbo bypass=hunter22xx pass=true',
    '{"pass": "required", "bearer": "2026-11-29"} PASS: tests/test_1.py pass: gpt4turbo bypass=hunter22xx pass=true',
  ],
  ['password = "correct-horse"', 'password = "[SECRET_1]"'],
  ['"access_token":"correct-horse"', '"access_token":"[SECRET_1]"'],
  ['clientSecret: correct-horse', 'clientSecret: [SECRET_1]'],
  ['password=hunter2 x', 'password=[SECRET_1] x'],
  ['"db_password": "hunt3r"', '"db_password": "[SECRET_1]"'],
  [`password="corr'ect-horse"`, 'password="[SECRET_1]"'],
  [`{'password': 'corr"ect,horse;'}`, "{'password': '[SECRET_1]'}"],
  [String.raw`{'password': 'a"b c\'d', "pwd": "größe"}`, String.raw`{'password': '[SECRET_1]', "pwd": "[SECRET_2]"}`],
  [String.raw`{\"password\": \"correct-horse\"}`, String.raw`{\"password\": \"[SECRET_1]\"}`],
  [
    '--set=password=correct-horse {a: {token: "correct-horse"}}',
    '--set=password=[SECRET_1] {a: {token: "[SECRET_1]"}}',
  ],
  ["Customer(name='A. Smith', mail='bob@acme.com')", "Customer(name='A. Smith', mail='[EMAIL_1]')"],
  ['user=bob@acme.com --to=bob@acme.com', 'user=[EMAIL_1] --to=[EMAIL_1]'],
  ['https://x.example/?a=1&to=bob@acme.com', 'https://x.example/?a=1&to=[EMAIL_1]'],
  ['Smith|bob@acme.com|/home/bob@acme.com', 'Smith|[EMAIL_1]|/home/[EMAIL_1]'],
  ["O'Neil@acme.com R&D@acme.com {bob@acme.com}", '[EMAIL_1] [EMAIL_2] {[EMAIL_3]}'],
  ['x+ann=a.example@list.org list-return-1-ann=a.example@list.org', '[EMAIL_1] [EMAIL_2]'],
  ['bounce-ann=a.example@list.org SRS0=HHH=TT=a.example=ann@list.org', '[EMAIL_1] [EMAIL_2]'],
  ['smtp.mailfrom=bounces+ann=a.example@list.org', 'smtp.mailfrom=[EMAIL_1]'],
  ['x-forwarded-email=bob@acme.com x-auth-user=bob.b@acme.com', 'x-forwarded-email=[EMAIL_1] x-auth-user=[EMAIL_2]'],
  ['mail=r&d@acme.com ?q=a+b&to=r&d@acme.com x+=bob@acme.com', 'mail=[EMAIL_1] ?q=a+b&to=[EMAIL_1] x+=[EMAIL_2]'],
  ['?to%3Dbob%40acme.com%3Ben%20bob%40acme.com', '?to%3D[EMAIL_1]%3Ben%20[EMAIL_1]'],
  ["('o''neil@acme.com') jose\u0301's@acme.com b'bob@acme.com'", "('[EMAIL_1]') [EMAIL_2] b'[EMAIL_3]'"],
  ['?token=AbCdEf12%2CdEfGh123&x=1', '?token=[SECRET_1]&x=1'],
  ['token=abcdef123456&page=2 password=ab&cd1234', 'token=[SECRET_1]&page=2 password=[SECRET_2]'],
  ['token=abcdef123456&amp;page=2', 'token=[SECRET_1]&amp;page=2'],
  [
    '(password=hunter22xx) [(token=abcdef123456)]. secret=a(b)c)d123',
    '(password=[SECRET_1]) [(token=[SECRET_2])]. secret=[SECRET_3]',
  ],
  // Not opened before the value, or by it: the brackets may be its own.
  ['password=abcdefg)', 'password=[SECRET_1]'],
  ['()\n(\npassword=hunter2(ab)', '()\n(\npassword=[SECRET_1]'],
  ['(password=hunter2(ab))', '(password=[SECRET_1])'],
  ['(password=hunter22))', '(password=[SECRET_1])'],
  ['password="ab12&cd=efgh))" password="abcdefgh&x=12 34"', 'password="[SECRET_1]" password="[SECRET_2] 34"'],
  ['password=[x]hunter2222', 'password=[SECRET_1]'],
  [
    "{'passwords': ['hunter22xx', 'a b', 'hunter33yy'], 'tokens': {'ci': 'hunter44zz', 'n': 1}, 'tokens': ['international']}",
    "{'passwords': ['[SECRET_1]', 'a b', '[SECRET_2]'], 'tokens': {'ci': '[SECRET_3]', 'n': 1}, 'tokens': ['international']}",
  ],
  [
    String.raw`{\"secrets\": [\n \"hunter22xx\"]} secrets = ("hunter\"33yy",) secret = ["hunter22xx"]`,
    String.raw`{\"secrets\": [\n \"[SECRET_1]\"]} secrets = ("[SECRET_2]",) secret = ["hunter22xx"]`,
  ],
  [
    String.raw`{\"secrets\": [\"hunter22xx\"]} [{'name': 'DB_PASSWORD', 'value': 'hunter33yy'}]`,
    String.raw`{\"secrets\": [\"[SECRET_1]\"]} [{'name': 'DB_PASSWORD', 'value': '[SECRET_2]'}]`,
  ],
  [
    '- name: DB_PASSWORD\n  value: hunter33yy\n- name: HOST\n  value: a-long-name <add key="Secret" value="hunter22xx"/>',
    '- name: DB_PASSWORD\n  value: [SECRET_1]\n- name: HOST\n  value: a-long-name <add key="Secret" value="[SECRET_2]"/>',
  ],
  [`session-${WEB_TOKEN} ${WEB_TOKEN}`, 'session-[SECRET_1] [SECRET_1]'],
  [
    'password     = "hunter33yy"\nDB_PASSWORD\t=  hunter44yy',
    'password     = "[SECRET_1]"\nDB_PASSWORD\t=  [SECRET_2]',
  ],
  [
    'Authorization: Basic YW5uOmh1bnRlcjI= Basic understanding-of-things',
    'Authorization: Basic [SECRET_1] Basic understanding-of-things',
  ],
  [
    String.raw`{\"Authorization\": \"Basic YW5uOmh1bnRlcjI=\"} authorization:  basic YW5uOmh1bnRlcjI=`,
    String.raw`{\"Authorization\": \"Basic [SECRET_1]\"} authorization:  basic [SECRET_1]`,
  ],
  [
    '-----BEGIN PRIVATE KEY-----" in text -- and code\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
    '[SECRET_1]-- and code\n[SECRET_2]',
  ],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,2AF3\n\nMIIE -- cut',
    '[SECRET_1]-- cut',
  ],
  [
    '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nMIIE\n-----END RSA PRIVATE KEY-----\nafter',
    '[SECRET_1]\nafter',
  ],
  [
    `-----BEGIN PGP PRIVATE KEY BLOCK-----\n${'A'.repeat(20_000)}\n-----END PGP PRIVATE KEY BLOCK-----\nafter`,
    '[SECRET_1]\nafter',
  ],
  [`'password' => 'correct-horse'`, `'password' => '[SECRET_1]'`],
  ['secret := "correct-horse"', 'secret := "[SECRET_1]"'],
  [
    'keys.map((key) => 1) token => token.length token=>token.length',
    'keys.map((key) => 1) token => token.length token=>token.length',
  ],
  ['<db:password>hunt3r</db:password>', '<db:password>[SECRET_1]</db:password>'],
  ['<token>a b</token> <password>\nhunter22', '<token>a b</token> <password>\nhunter22'],
  ['password=[SECRET_7] password=********', 'password=[SECRET_7] password=********'],
  ['"api_key": "${API_KEY}", token="[TOKEN]"', '"api_key": "${API_KEY}", token="[TOKEN]"'],
  [
    'token: string; secret=value, tokens: 128000, token = arr[12], password: boolean',
    'token: string; secret=value, tokens: 128000, token = arr[12], password: boolean',
  ],
  ['passenger = "correct-horse"', 'passenger = "correct-horse"'],
  ['to ali\u200bce@mail.exa\u2066mple now', 'to [EMAIL_1] now'],
  ['\u200balice@mail.example\u{e0041}', '\u200b[EMAIL_1]\u{e0041}'],
  ['call +49\u00ad 30 12\u2060345 67', 'call [PHONE_1]'],
  ['card 4111 1111\ufe0f 1111 1111', 'card [CARD_1]'],
  // With the character, and without it: either is enough.
  ['card 4111 1111 1111 1111\u200b2', 'card [CARD_1]\u200b2'],
  ['4111\u00a01111\u202f1111\u20091111', '[CARD_1]'],
  ['card 4111\u20111111\u20111111\u20131111', 'card [CARD_1]'],
  ['٤١١١١١١١١١١١١١١١ ４１１１１１１１１１１１１１１１', '[CARD_1] [CARD_2]'],
  ['DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000', '[IBAN_1]'],
  ['+33\u00a06\u00a012\u00a034\u00a056\u00a078', '[PHONE_1]'],
  ['+٤٩ ٣٠ ١٢٣٤٥٦٧', '[PHONE_1]'],
  ['415\u00a0555\u00a00100 or 415\u2011555\u20110100', '[PHONE_1] or [PHONE_2]'],
  ['𝟒 4111\u00a01111 1111 1111', '𝟒 [CARD_1]'],
  ['mail alice@mail.example\u2013or not', 'mail [EMAIL_1]\u2013or not'],
  ['-----BEGIN PRIVATE KEY-----\nMIIE\nvQIB\n-----END PRIVATE KEY-----', '[SECRET_1]'],
])('masking replaces %j', (text, masked) => expect(masker().maskedNow(text)).toBe(masked))

it.each([
  'card 4111 1111 1111 1112',
  '2224003122003222 2024050112305912 2024 0501 1230 5912',
  // Rows of numbers, as a matrix has them.
  `${'3456 1234 '.repeat(3)}4111 1111 1111 1111 ${'3456 1234 '.repeat(3)}`.trim(),
  'to DE89 3704 0044 0532 0130 02',
  // The first 16 characters would be an account number of Belgium.
  'id 8f0cafe1-be71-0961-2345-676912345678',
  '["text", "@mail.example"] "@scope.name" {"a":"b","@type":"schema.org"} x = "a" + "@b.example"',
  '+1000 / 20000, +12 / -3456789, +2019 - 2024',
  'std::a1::b2, arn:aws:s3:::abc1, time:12:30:59, mac:00:1b:44:11:3a:b7, use:add::fee',
  'version 1.2.3 at 12:30:59 on 2024-01-02',
  '999.1.1.1 and 1.2.3.4.5',
  'a@b and @decorator',
  'import @mail.example',
  '3.14159265358979',
  'id 00000000-0000-4000-8000-000000000000',
])('masking leaves %j alone', (text) => expect(masker().maskedNow(text)).toBe(text))

it('masking gives a value the same token everywhere, and puts it back', () => {
  const one = masker()
  const masked = one.maskedNow('a@x.example, b@x.example, a@x.example')!
  expect(masked).toBe('[EMAIL_1], [EMAIL_2], [EMAIL_1]')
  expect(one.unmask(masked)).toBe('a@x.example, b@x.example, a@x.example')
  expect(one.unmaskData({ to: ['[EMAIL_2]'], '[EMAIL_1]': 1 })).toEqual({ to: ['b@x.example'], 'a@x.example': 1 })
  const ordered = one.unmaskData(tryParseExact('{"a":"[EMAIL_1]","2":1,"1":2}'))
  expect(JSON.stringify(ordered)).toBe('{"a":"a@x.example","2":1,"1":2}')
})

it('masking puts back a value with its invisible characters', () => {
  const one = masker()
  expect(one.unmask(one.maskedNow('ali\u200bce@mail.example')!)).toBe('ali\u200bce@mail.example')
  expect(one.unmask(one.maskedNow('4111\u00a01111\u00a01111\u00a01111')!)).toBe('4111\u00a01111\u00a01111\u00a01111')
})

it('masking does not put back the values of another session, and leaves unknown tokens alone', () => {
  const maskers = createMaskers({ kinds: ['email'] })
  const [mine, theirs] = [maskers.of({}), maskers.of({})]
  theirs.maskedNow('secret@theirs.example')
  expect(mine.unmask('[EMAIL_1] [EMAIL_2] [1]')).toBe('[EMAIL_1] [EMAIL_2] [1]')
})

it('masking replaces keys and numbers of data', () => {
  const one = masker()
  const data = { 'a@x.example': [4_111_111_111_111_111, 42, null, { ok: true }] }
  expect(maskData(data, (text) => one.maskedNow(text)!)).toEqual({
    '[EMAIL_1]': ['[CARD_1]', 42, null, { ok: true }],
  })
})

it('masking replaces the value of a key that names a secret, as it does in text', () => {
  const one = masker()
  const data = {
    user: 'bob-and-more',
    token_of_bot: 'hunter2',
    password: 'correct-horse',
    db: { api_key: 'abcdefgh1234', password: 12_345_678 },
    rows: [{ clientSecret: 'correct-horse' }],
    smtp: { pass: 'hunter22xx', bearer: 'hunter22xx', bypass: 'hunter22xx', pass_rate: 'v1.2-beta' },
    max_tokens: 12_345_678,
    token: null,
    secret: { length: 12 },
    access_token: '[SECRET_1]',
    api_token: 'string',
    passphrase: 'correct horse',
    userPwd: 'größe, "b"',
    pwd: 'string',
    old_password: '********',
  }
  expect(maskData(data, (text, name) => one.maskedNow(text, name)!)).toEqual({
    ...data,
    token_of_bot: '[SECRET_1]',
    password: '[SECRET_2]',
    db: { api_key: '[SECRET_3]', password: '[SECRET_4]' },
    rows: [{ clientSecret: '[SECRET_2]' }],
    smtp: { pass: '[SECRET_5]', bearer: '[SECRET_5]', bypass: 'hunter22xx', pass_rate: 'v1.2-beta' },
    passphrase: '[SECRET_6]',
    userPwd: '[SECRET_7]',
  })
  expect(one.unmaskData({ text: '[SECRET_2]' })).toEqual({ text: 'correct-horse' })
})

it('masking replaces secrets in lists under such a key, and those whose name stands beside them', () => {
  const data = {
    passwords: ['correct-horse'],
    env: [
      { name: 'DB_PASSWORD', value: 'hunter22' },
      { name: 'HOST', value: 'a-long-name' },
    ],
  }
  expect(maskData(data, (text, key) => masker().maskedNow(text, key)!)).toEqual({
    passwords: ['[SECRET_1]'],
    env: [
      { name: 'DB_PASSWORD', value: '[SECRET_1]' },
      { name: 'HOST', value: 'a-long-name' },
    ],
  })
})

it.each([
  { tokens: { ci: 'hunter33yy' } },
  { secret: { value: 'hunter33yy', created: '2024-01-01T00:00:00Z' } },
  { Key: 'DB_PASSWORD', Value: 'hunter33yy' },
  { cookies: [{ name: 'sid-of-shop', value: 'hunter33yy', domain: 'shop.example' }] },
  { headers: { Authorization: 'Basic hunter33yy' } },
])('masking replaces only the secret of %j', (data) => {
  const masked = maskData(data, (text, key) => masker().maskedNow(text, key)!)
  expect(JSON.stringify(masked)).toBe(JSON.stringify(data).replace(/(?:Basic )?hunter33yy/, '[SECRET_1]'))
})

it.each([
  ['names before brackets', `secret ${'aa='.repeat(66)}${')'.repeat(4_000_000)}x`, /^secret aa=.*x$/],
  ['beginnings of tokens', 'eyJa'.repeat(4_000_000), /^eyJa/],
  ['words that begin tokens', '-eyJa'.repeat(1_000_000), /^-eyJa/],
  ['beginnings of keys', '-----BEGIN PRIVATE KEY-----'.repeat(100_000), /^\[SECRET_1\]/],
  ['a key without its end', `-----BEGIN PRIVATE KEY-----${'MIIE\n'.repeat(4_000_000)}`, /^\[SECRET_1\]$/],
  ['a token', WEB_TOKEN.replaceAll('.', 'x'.repeat(4_000_000) + '.'), /^\[SECRET_1\]$/],
])('masking takes a time that grows no faster than the text, and no stack: %s', (_, text, masked) => {
  const found = masker().maskedNow(text)!
  expect(masked.test(found)).toBe(true)
})

it.each(['*'.repeat(30_000_000), `Basic ${'x'.repeat(30_000_000)}`])(
  'masking reads values of any length under a key that names a secret',
  (value) => expect(masker().maskedNow(value, 'authorization')).toBe('[SECRET_1]'),
)

it('masking leaves the values of such keys alone where secrets are not masked', () => {
  const one = createMaskers({ kinds: ['email'] }).of({})
  const data = { password: 'correct-horse' }
  expect(maskData(data, (text, name) => one.maskedNow(text, name)!)).toEqual(data)
})

it('masking replaces such values in the structured form of a result, too', async () => {
  const result = await masker().result({
    ...EMPTY_RESULT,
    value: { 'text/plain': '<J>', 'application/json': { password: 'correct-horse' } },
  })
  expect(result.value).toEqual({ 'text/plain': '<J>', 'application/json': { password: '[SECRET_1]' } })
})

it('masking reaches the deepest data that a cell may return', () => {
  const nested = (text: string) => Array.from({ length: MAX_NESTING }).reduce<unknown>((inner) => [inner], text)
  expect(maskData(nested('a@x.example'), (text) => masker().maskedNow(text)!)).toEqual(nested('[EMAIL_1]'))
})

it('masking keeps a token in source code where its value could end a literal', () => {
  const one = masker([{ name: 'odd', pattern: 'X".{3}' }])
  one.maskedNow('X"abc a@x.example')
  expect(one.unmaskSource('f("[ODD_1]", "[EMAIL_1]")', undefined)).toBe('f("[ODD_1]", "a@x.example")')
  expect(one.unmask('[ODD_1]')).toBe('X"abc')
})

it.each([
  ['bash', 'a`id`@x.example', false],
  ['bash', 'a$IFS@x.example', false],
  ['bash', '4111 1111 1111 1111', false],
  ['bash', 'ann+1@x.example', true],
  ['javascript', 'a`+b+`@x.example', false],
  ['javascript', '${a}@x.example', false],
  ['javascript', "o'neil@x.example", false],
  ['javascript', '*/wipe()/*', false],
  ['javascript', '*//x', false],
  ['javascript', '* /x', true],
  ['javascript', '4111 1111 1111 1111', true],
  [undefined, 'a`id`$IFS@x.example', true],
  [undefined, "a'b@x.example", false],
] as const)(
  'masking keeps a token in source code of %s where %j could change the program',
  (language, value, isPlain) => {
    const one = masker([{ name: 'odd', pattern: 'X.{1,60}Y' }])
    one.maskedNow(`X${value}Y`)
    expect(one.unmaskSource('f("[ODD_1]")', language)).toBe(isPlain ? `f("X${value}Y")` : 'f("[ODD_1]")')
  },
)

it('masking lets nothing through where its own code fails, and goes on with the next text', async () => {
  const find = (text: string) => {
    if (text.includes('boom')) throw new TypeError('a fault')
    return RECOGNISERS.email.find(text)
  }
  const one = new Masker([{ label: 'EMAIL', find }])
  one.returned({ note: 'boom from a server' })
  expect(one.maskedNow('boom a@x.example')).toBeUndefined()
  await expect(one.masked((mask) => mask('boom a@x.example'))).rejects.toMatchObject({ code: 'MASK_UNAVAILABLE' })
  const left = await maskResult({ ...EMPTY_RESULT, stdout: 'boom a@x.example' }, one)
  expect(left).toMatchObject({ stdout: '', notes: [expect.stringContaining('was left out. A fault of Sandbridge')] })
  expect(one.maskedNow('a@x.example')).toBe('[EMAIL_1]')
})

it("masking puts back only a sampling request's own values in its reply", async () => {
  const one = masker()
  one.maskedNow('bob@acme.example, password=hunter22xx')
  const asked: unknown[] = []
  const asker = one.asker({
    canAnswer: () => true,
    hold: (work) => work,
    ask(question) {
      asked.push(question.params)
      return Promise.resolve({ content: '[EMAIL_2] [EMAIL_1] [SECRET_1]', '[EMAIL_2]': '[EMAIL_1]' })
    },
  })
  const text = 'Repeat: [EMAIL_1] [SECRET_1] [EMAIL_2]'
  const params = { messages: [text, 'of ann@acme.example'] }
  const reply = await asker.ask({ method: 'sampling/createMessage', params }, undefined)
  expect(asked).toEqual([{ messages: [text, 'of [EMAIL_2]'] }])
  expect(reply).toEqual({
    content: 'ann@acme.example [EMAIL_1] [SECRET_1]',
    'ann@acme.example': '[EMAIL_1]',
  })
})

it('masking replaces two values that overlap as one', () => {
  expect(masker([{ name: 'case_no', pattern: 'case-\\d{2,8}@x' }]).maskedNow('case-123@x.example')).toBe('[EMAIL_1]')
})

it('a custom pattern is masked under its name', () => {
  expect(masker([{ name: 'employee', pattern: '\\bEMP-[0-9]{6}\\b' }]).maskedNow('by EMP-123456')).toBe(
    'by [EMPLOYEE_1]',
  )
})

it('values that several sessions may read have tokens that no session puts back', async () => {
  const maskers = createMaskers({ kinds: MASK_KINDS, patterns: [{ name: 'a'.repeat(32), pattern: 'EMP-[0-9]{6}' }] })
  const readers = {}
  const text = await maskers
    .shared(readers)
    .masked((mask) => [mask('bob@acme.example EMP-123456'), mask('hunter2', 'password')])
  expect(text).toEqual([`[EMAIL_SHARED_1] [${'A'.repeat(25)}_SHARED_1]`, '[SECRET_SHARED_1]'])
  expect(maskers.shared(readers).unmask(text.join(' '))).toBe('bob@acme.example EMP-123456 hunter2')
  const session = maskers.of(readers)
  expect(session.maskedNow('ann@acme.example')).toBe('[EMAIL_1]')
  expect(session.unmask(text[0]!)).toBe(text[0])
})

it.each([
  'KEY-[A-Z0-9]+',
  'KEY-[A-Z0-9]{3,}',
  'KEY-[A-Z0-9]*',
  '(?:ID[0-9]{3}|KEY-[A-Z0-9]+)',
  'KEY-[A-Z0-9]+|ID[0-9]{3}',
  '\\bKEY-[A-Z0-9]+\\b',
])('a custom pattern that ends with a repetition masks all of a long value: %s', (pattern) => {
  const value = `KEY-${'A'.repeat(64)}SECRETTAIL`
  const one = masker([{ name: 'key', pattern }])
  expect(one.maskedNow(`by ${value}, KEY-ABC`)).toBe('by [KEY_1], [KEY_2]')
  expect(one.unmask('[KEY_1] [KEY_2]')).toBe(`${value} KEY-ABC`)
})

it.each(['[a-z]+', '\\p{L}+', '[a-z]+\\b', '(?:x|[a-z]*)', '[a-z]+!'])(
  'a custom pattern takes a time that grows no faster than the text: %s',
  (pattern) => {
    const recogniser = customRecogniser({ name: 'x', pattern })
    expect(recogniser.find('a'.repeat(500_000)).length).toBeLessThan(2)
    expect(recogniser.find(`${'a'.repeat(500_000)}_`).length).toBeLessThan(2)
  },
)

it('a custom pattern that also fits nothing masks only what it finds', () => {
  expect(masker([{ name: 'digits', pattern: '[0-9]*' }]).maskedNow('by 12, or 12')).toBe('by [DIGITS_1], or [DIGITS_1]')
})

it.each(['(a+)+$', '(a|a)*b', '(?=a)a', '(a)\\1', 'a+b+c+d+', '(ab){1,3}', '[', 'a{5000}', '(?<n>a)'])(
  'a custom pattern is refused where it could take for ever: %s',
  (pattern) => expect(() => customRecogniser({ name: 'x', pattern })).toThrow("The mask pattern 'x'"),
)

it('a custom pattern is accepted when its work grows no faster than the text', () => {
  // 64 ways at each position: with an unbounded repetition, this would take quadratic time.
  const recogniser = customRecogniser({ name: 'x', pattern: '\\w+!' })
  expect(recogniser.find('a'.repeat(200_000))).toEqual([])
  expect(recogniser.find(`${'a'.repeat(10)}!`)).toHaveLength(1)
})
