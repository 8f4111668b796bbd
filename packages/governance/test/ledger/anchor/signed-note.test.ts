import { createPrivateKey, sign, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  formatNote,
  type NoteKey,
  noteKeyId,
  notesIn,
  parseNote,
  parseVerifierKey,
  signedBytes,
  verifierKey,
  withoutTime,
  withTime,
} from "#ledger/anchor/signed-note";
import { spkiOf } from "#ledger/public-keys";

// Of Go's golang.org/x/mod/sumdb/note, an implementation that shares nothing with ours.
const peter = {
  vkey: "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
  skey: "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz",
  note: "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n",
};
const enoch = {
  vkey: "EnochRoot+af0cfe78+ATtqJ7zOtqQtYqOo0CpvDXNlMhV3HeJDpjrASKGLWdop",
  line: "— EnochRoot rwz+eBzmZa0SO3NbfRGzPCpDckykFXSdeX+MNtCOXm2/5n2tiOHp+vAF1aGrQ5ovTG01oOTGwnWLox33WWd1RvMc+QQ=\n",
};
// The example of c2sp.org/signed-note.
const foo = {
  vkey: "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
  note: "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n",
};

function keyOf(vkey: string): NoteKey {
  const key = parseVerifierKey(vkey);
  if (key === undefined) throw new Error(`${vkey} is not a verifier key.`);
  return key;
}

/** Whether one signature of a note is the key's, and genuine. */
function isSignedBy(text: string, vkey: string): boolean {
  const note = parseNote(text);
  const key = keyOf(vkey);
  const found = note?.signatures.find(({ name, keyId }) => name === key.name && keyId === noteKeyId(key));
  const parts = found && withoutTime(found.signature, key.kind);
  if (note === undefined || parts === undefined) return false;
  const publicKey = { key: Buffer.from(spkiOf(key.publicKey)), format: "der", type: "spki" } as const;
  return verify(null, signedBytes(note.text, key.kind, parts.time), publicKey, parts.signature);
}

describe("notes of another implementation", () => {
  test("are read, and their signatures hold", () => {
    expect(isSignedBy(peter.note, peter.vkey)).toBe(true);
    expect(isSignedBy(`${peter.note}${enoch.line}`, peter.vkey)).toBe(true);
    expect(isSignedBy(`${peter.note}${enoch.line}`, enoch.vkey)).toBe(true);
    expect(isSignedBy(foo.note, foo.vkey)).toBe(true);
    expect(isSignedBy(peter.note.replace("answer", "Answer"), peter.vkey)).toBe(false);
    expect(isSignedBy(peter.note, enoch.vkey)).toBe(false);
  });

  test("are written byte for byte as it writes them", () => {
    const seed = Buffer.from(peter.skey.slice("PRIVATE+KEY+PeterNeumann+c74f20a3+".length), "base64").subarray(1);
    const pkcs8 = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
    const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
    const text = peter.note.slice(0, peter.note.indexOf("\n\n") + 1);
    const key = keyOf(peter.vkey);
    const signature = sign(null, signedBytes(text, "note", 0n), privateKey);
    const note = { text, signatures: [{ name: key.name, keyId: noteKeyId(key), signature }] };
    expect(formatNote(note)).toBe(peter.note);
    expect(verifierKey(key)).toBe(peter.vkey);
  });
});

test.each([
  ["no signature", "text\n\n"],
  ["no empty line", "text\n— a AAAAAAA=\n"],
  ["no text", "\n\n— a AAAAAAA=\n"],
  ["no line break at the end", peter.note.slice(0, -1)],
  ["a hyphen for the dash", peter.note.replace("—", "-")],
  ["a control character", peter.note.replace("If", "I\tf")],
  ["a name with a plus", peter.note.replace("PeterNeumann", "Peter+Neumann")],
  ["base64 of another form", peter.note.replace("JnAM=", "JnAN=")],
  ["a signature of nothing", "text\n\n— a AAAAAA==\n"],
  ["a lone surrogate", "a\ud800\n\n— a AAAAAAA=\n"],
  ["101 signatures", `text\n\n${"— a AAAAAAA=\n".repeat(101)}`],
  ["2 MiB", `${"x".repeat(2 << 20)}\n\n— a AAAAAAA=\n`],
])("what is no note is none: %s", (_name, text) => expect(parseNote(text)).toBe(undefined));

test("no part of a verifier key passes for one", () => {
  for (let from = 0; from <= peter.vkey.length; from++) {
    for (let to = from + 1; to <= peter.vkey.length; to++) {
      if (from === 0 && to === peter.vkey.length) continue;
      expect(parseVerifierKey(peter.vkey.slice(from, to))).toBe(undefined);
    }
  }
  for (let at = 0; at < peter.vkey.length; at++) {
    const other = String.fromCharCode(peter.vkey.charCodeAt(at) + 1);
    expect(parseVerifierKey(peter.vkey.slice(0, at) + other + peter.vkey.slice(at + 1))).toBe(undefined);
  }
});

test("several notes stand in one text, whatever is between them", () => {
  const text = `# kept by Ada\n\n${peter.note}\nwords\n\nmore words\n\n${foo.note}\n\n${foo.note}— not a signature\n\n${peter.note}${enoch.line}`;
  expect(notesIn(text).map(({ text: body, signatures }) => [body.split("\n").length - 1, signatures.length])).toEqual([
    [2, 1],
    [1, 1],
    [2, 2],
  ]);
  expect(notesIn("").length + notesIn("\n\n\n— a AAAAAAA=\n").length).toBe(0);
});

test("a cosignature begins with its time", () => {
  const signature = new Uint8Array(64).fill(7);
  const bytes = withTime(signature, "cosignature", 1679315147n);
  expect(withoutTime(bytes, "cosignature")).toEqual({ signature, time: 1679315147n });
  expect(withoutTime(bytes, "note")).toBe(undefined);
  expect(withoutTime(signature, "cosignature")).toBe(undefined);
  expect(new TextDecoder().decode(signedBytes("o\n1\nr\n", "cosignature", 5n))).toBe(
    "cosignature/v1\ntime 5\no\n1\nr\n",
  );
});
