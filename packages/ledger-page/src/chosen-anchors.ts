import type { ChosenAnchors } from "@gennai/governance/ledger/anchor/judged-by-anchors";
import { notesIn, parseVerifierKey } from "@gennai/governance/ledger/anchor/signed-note";

/** Larger files are no witness files, in bytes; as for the command. */
const mostBytes = 16 * 1024 * 1024;

/**
 * What a bundle is to be compared with. Throws an `Error` for a file that is too large and for text that is not a key.
 * @param witnessKeys of others whose word on the time counts: `NAME+KEYID+BASE64`, apart by white space
 */
export async function chosenAnchors(files: readonly File[], witnessKeys: string): Promise<ChosenAnchors | undefined> {
  if (files.length === 0) return undefined;
  const kept = await Promise.all(
    files.map(async (file) => {
      if (file.size > mostBytes) throw new Error(`${file.name} is not a witness file: it is too large.`);
      return notesIn(await file.text()).map((note) => ({ note, where: file.name }));
    }),
  );
  const witnesses = witnessKeys.split(/\s+/).filter((text) => text !== "");
  return { kept: kept.flat(), witnesses: witnesses.map(keyOf) };
}

function keyOf(text: string) {
  const key = parseVerifierKey(text);
  if (key === undefined) {
    throw new Error(`${JSON.stringify(text.slice(0, 200))} is not a verifier key: write NAME+KEYID+BASE64.`);
  }
  return key;
}
