/** Letters and digits that look random and are the same in every run, so that no real token stands in this file. */
export function noise(
  length: number,
  alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
): string {
  let state = length * 7919 + 17;
  let text = "";
  for (let index = 0; index < length; index += 1) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += alphabet.charAt(Math.floor(state / 65536) % alphabet.length);
  }
  return text;
}

/** The server's own. */
export const ownToken = noise(43);
export const pem = [
  "-----BEGIN RSA PRIVATE",
  " KEY-----\n",
  `${noise(64)}\n`.repeat(25),
  "-----END RSA PRIVATE",
  " KEY-----",
].join("");
export const secrets: readonly { readonly name: string; readonly text: string; readonly secret: string }[] = [
  { name: "a GitHub token", text: `remote: ghp_${noise(36)} rejected`, secret: `ghp_${noise(36)}` },
  { name: "an npm token", text: `//registry/:_authToken=npm_${noise(36)}\n`, secret: noise(36) },
  { name: "an AWS key", text: `AWS_SECRET_ACCESS_KEY=${noise(40)}\nnext`, secret: noise(40) },
  { name: "an AWS key with blanks around =", text: `aws_secret_access_key = ${noise(40)}\nnext`, secret: noise(40) },
  { name: "an Anthropic key", text: `key sk-ant-api03-${noise(93)}AA.`, secret: noise(93) },
  {
    name: "a password in an address",
    text: "clone https://dev:pa55w0rdXyz@git.example.com/x ok",
    secret: "pa55w0rdXyz",
  },
  { name: "a database address", text: "DB postgres://app:s3cretPw0rd@db.example.com:5432/x\n", secret: "s3cretPw0rd" },
  { name: "a bearer header", text: `> Authorization: Bearer ${noise(32)}\n> Accept: */*`, secret: noise(32) },
  { name: "a bearer header in JSON", text: `{"headers":{"authorization":"Bearer ${noise(32)}"}}`, secret: noise(32) },
  { name: "a bearer token", text: `curl -H 'bearer ${noise(24)}1' x`, secret: noise(24) },
  { name: "a signed token", text: `cookie eyJ${noise(20)}.${noise(40)}.${noise(30)};`, secret: noise(40) },
  { name: "an assignment", text: "export DB_PASSWORD=hunter2hunter2\n", secret: "hunter2hunter2" },
  { name: "an assignment in JSON", text: '{"api_key": "abcd1234efgh5678", "x": 1}', secret: "abcd1234efgh5678" },
  { name: "a private key", text: `before\n${pem}\nafter\n`, secret: noise(64) },
  { name: "a private key in a diff", text: `diff\n+${pem.replaceAll("\n", "\n+")}\n end.\n`, secret: noise(64) },
  ...["→", "\t"].flatMap((behind) => [
    {
      name: `a private key in lines numbered by ${JSON.stringify(behind)}`,
      text: `const key = \`${pem}\`;\nnext();`
        .split("\n")
        .map((line, index) => `${index + 1}${behind}${line}`)
        .join("\n"),
      secret: noise(64),
    },
    {
      name: `a locked private key in lines numbered by ${JSON.stringify(behind)}`,
      text: pem
        .replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00FF\n\n")
        .split("\n")
        .map((line, index) => `${String(index + 1).padStart(6)}${behind}${line}`)
        .join("\n"),
      secret: noise(64),
    },
  ]),
  {
    name: "a private key among found lines",
    text: pem
      .split("\n")
      .map((line, index) => `src/my_keys.test.ts-${index + 1}-${line}`)
      .join("\n"),
    secret: noise(64),
  },
  { name: "a private key in JSON", text: JSON.stringify({ a: 1, private_key: pem, b: 2 }), secret: noise(64) },
  { name: "a private key that is cut off", text: pem.slice(0, 700), secret: noise(64) },
  { name: "the server's own token", text: `Cookie: gennai=${ownToken}; x`, secret: ownToken },
  { name: "a secret as a key", text: JSON.stringify({ [`ghp_${noise(36)}`]: true }), secret: noise(36) },
  {
    name: "a secret after a comment that would switch rules off",
    text: `// secretlint-disable\nghp_${noise(36)}\n`,
    secret: noise(36),
  },
];

/** Length of the longest piece of the secret that stands in the text. */
export function seen(text: string, secret: string): number {
  let longest = 0;
  for (let from = 0; from < secret.length; from += 1) {
    while (from + longest < secret.length && text.includes(secret.slice(from, from + longest + 1))) longest += 1;
  }
  return longest;
}
