/** What somebody may do to a bundle: a text for each kind of byte in it. None of them may count as sound. */
export const tamperings: readonly (readonly [name: string, change: (bundle: string) => string])[] = [
  ["a digit of a time", (text) => text.replace("03:04:05.678Z", "03:04:05.679Z")],
  ["a time of a record", (text) => text.replace('"timestamp":"2026', '"timestamp":"2025')],
  ["a letter of a call", (text) => text.replace("größe", "gröBe")],
  ["a byte beyond ASCII", (text) => text.replace("größe", "gräße")],
  ["a hash", (text) => text.replace(/"hash":"(.)/, (_, digit: string) => `"hash":"${digit === "0" ? "1" : "0"}`)],
  ["a salt", (text) => text.replace('"salt":"5a', '"salt":"5b')],
  ["the hash before", (text) => text.replace(/"previous_hash":"../, '"previous_hash":"zz')],
  ["a seq", (text) => text.replace('"seq":2', '"seq":3')],
  ["a record's signature", (text) => text.replace(/"signature":"(.)/, (_, at: string) => `"signature":"${other(at)}`)],
  [
    "the bundle's signature",
    (text) => text.replace(/\],"signature":"(.)/, (_, at: string) => `],"signature":"${other(at)}`),
  ],
  ["the end of a signature", (text) => text.replace(/(.)==",/, (_, at: string) => `${other(at)}==",`)],
  [
    "the key",
    (text) => text.replace(/(BEGIN PUBLIC KEY-----\\n.{30})(.)/, (_, before: string, at: string) => before + other(at)),
  ],
  ["the key's id", (text) => text.replace(/"key_id":"(.)/, (_, at: string) => `"key_id":"${at === "0" ? "1" : "0"}`)],
  [
    "the head",
    (text) => text.replace(/"seq":(\d+),"signature"/, (_, seq: string) => `"seq":${Number(seq) - 1},"signature"`),
  ],
  ["the head, gone", (text) => text.replace(/"head":\{[^}]*\}/, '"head":null')],
  [
    "the workspace",
    (text) => text.replace(/"workspace":"(.)/, (_, at: string) => `"workspace":"${at === "0" ? "1" : "0"}`),
  ],
  ["a member twice", (text) => text.replace('"version":1', '"version":1,"version":1')],
  ["a member more", (text) => text.replace('"version":1', '"more":1,"version":1')],
  ["a newer version", (text) => text.replace('"version":1', '"version":2')],
  ["a record gone", (text) => text.split("\n").toSpliced(2, 1).join("\n")],
  ["two records swapped", (text) => swapped(text.split("\n"), 2, 3).join("\n")],
  [
    "a record twice",
    (text) =>
      text
        .split("\n")
        .flatMap((line, at) => (at === 2 ? [line, line] : [line]))
        .join("\n"),
  ],
  ["the tail cut off", (text) => text.split("\n").slice(0, 4).join("\n")],
  ["cut in the middle of a record", (text) => text.slice(0, Math.floor(text.length / 2))],
  ["the last byte cut off", (text) => text.trimEnd().slice(0, -1)],
  ["words behind it", (text) => `${text}more\n`],
  ["nothing in it", () => ""],
  ["no bundle", () => '{"format":"other"}'],
  ["HTML", () => "<script>document.title='ran'</script>"],
];

function other(character: string): string {
  return character === "A" ? "B" : "A";
}

function swapped(lines: readonly string[], one: number, two: number): readonly string[] {
  return lines.with(one, lines[two] ?? "").with(two, lines[one] ?? "");
}
