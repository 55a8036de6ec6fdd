/** One of each encoding that flow rules decode, some of them in others. */
export const EACH_ENCODING =
  '%41%42 \\n \\x41 &amp; &#37;43 <b> x</b> 1e+5 0001234567 a\u200Bb =\r\n=41 quoted-printable ' +
  'aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ= \\u0025\\u0034\\u0031 %26lt;b%26gt; &#92;x41 %5Cx42 '
