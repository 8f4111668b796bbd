import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { artefactNames } from "../make-release.ts";
import { keyIdOf, verifyRelease } from "../verify.mjs";
import type { Gate } from "./gate.ts";
import { Steps } from "./steps.ts";

/** The provenance is signed by the key in question, and the check that says so sees a changed byte and a wrong key. */
export const signatureGate: Gate = {
  name: "signature",
  title: "The provenance is signed by the release key, and every artefact is what they say.",
  timeoutMs: 60_000,
  async run({ directory, publicKey, scratch, version, doing }) {
    const steps = new Steps(doing);
    const look = (place: string, key = publicKey) => verifyRelease({ directory: place, publicKey: key, gates: false });
    await steps.check("signature and checksums", () => {
      const { problems, facts } = look(directory);
      for (const fact of facts) steps.note(fact);
      if (problems.length > 0) throw new Error(problems.join(" "));
      return `${facts.length - 2} artefacts, key ${keyIdOf(createPublicKey(publicKey))}`;
    });
    const copy = join(scratch, "copy");
    const { commandLine } = artefactNames(version);
    cpSync(directory, copy, { recursive: true });
    await steps.check("a changed byte is seen", () => {
      const bytes = readFileSync(join(copy, commandLine));
      bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
      writeFileSync(join(copy, commandLine), bytes);
      return refusal(look(copy).problems, `${commandLine} was changed`);
    });
    await steps.check("another key is seen", () => {
      const { publicKey: other } = generateKeyPairSync("ed25519");
      const pem = other.export({ type: "spki", format: "pem" }).toString();
      return refusal(look(directory, pem).problems, "is signed by key");
    });
    return steps.findings();
  },
};

function refusal(problems: readonly string[], words: string): string {
  const [problem] = problems;
  if (problem?.includes(words) === true && problems.length === 1) return problem;
  throw new Error(`The check said: ${problems.join(" ") || "nothing"}`);
}
