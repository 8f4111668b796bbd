import { Transform } from "node:stream";

/** Passes bytes on, and fails at the first forbidden text, before any of that text has passed. */
export function withoutTexts(texts: readonly string[]): Transform {
  const forbidden = texts.map((text) => Buffer.from(text));
  const longest = Math.max(1, ...forbidden.map(({ length }) => length));
  let held: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
      if (forbidden.some((text) => all.includes(text))) {
        done(new Error("The answer holds the login."));
        return;
      }
      const open = Math.min(all.length, longest - 1);
      held = all.subarray(all.length - open);
      done(null, all.subarray(0, all.length - open));
    },
    flush(done) {
      done(null, held);
    },
  });
}

/** The forms in which a secret may come back, without those too short to be recognised. */
export function formsOf(secrets: readonly string[]): readonly string[] {
  const forms = secrets.flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    ...[0, 1, 2].flatMap((before) => [packedAt(before, secret, "base64"), packedAt(before, secret, "base64url")]),
    Buffer.from(secret).toString("hex"),
    Buffer.from(secret).toString("hex").toUpperCase(),
  ]);
  return [...new Set(forms)].filter(({ length }) => length >= 8);
}

/** In base64, of which only that which is the same whatever stands beside it. @param before bytes beside it, of three */
function packedAt(before: number, secret: string, encoding: "base64" | "base64url"): string {
  const all = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
  return all.toString(encoding).slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6));
}
