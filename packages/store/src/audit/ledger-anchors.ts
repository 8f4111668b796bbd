import { createPublicKey, verify } from "node:crypto";
import { constants } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { git } from "@gennai/git/run/run-git";
import {
  type AnchorReport,
  checkAnchors,
  type KeptNote,
  presentHead,
} from "@gennai/governance/ledger/anchor/check-anchors";
import { type Checkpoint, checkpointText } from "@gennai/governance/ledger/anchor/checkpoint";
import { type ChosenAnchors, type Judged, judgeBundle } from "@gennai/governance/ledger/anchor/judged-by-anchors";
import {
  formatNote,
  type NoteKey,
  type NoteKeyKind,
  noteKeyId,
  notesIn,
  parseVerifierKey,
  signedBytes,
  verifierKey,
  withTime,
} from "@gennai/governance/ledger/anchor/signed-note";
import { publicKeysOf, spkiOf } from "@gennai/governance/ledger/public-keys";
import type { BundleReport, BundleSource } from "@gennai/governance/ledger/verify-bundle";
import { hasCode } from "@gennai/machine/system-error";
import { databaseFile, StoreDatabase, syncCommits } from "../database/database.ts";
import { StoreError } from "../database/store-error.ts";
import type { LedgerLocation } from "../ledger/file/ledger-file-name.ts";
import { ledgerPublicKeyFile, openLedgerSigner, useKeyInForce } from "../ledger/ledger-key.ts";
import { verifyLedgerBundle } from "./ledger-bundle.ts";
import { ledgerLines } from "./ledger-export.ts";

/** Bytes. Larger files are no witness files. */
const maxBytes = 16 * 1024 * 1024;

/** Where anchors are looked for. */
export interface AnchorSources {
  /** Witness files: absolute paths. */
  readonly files: readonly string[];
  /** Real absolute path of a working tree whose git notes are read; if undefined, none are read. */
  readonly repository: string | undefined;
  /** Verifier keys of other possible signers, `NAME+KEYID+BASE64`. */
  readonly witnesses: readonly string[];
}

/** A head that was anchored now or before. */
export interface AnchoredHead extends Checkpoint {
  readonly isNew: boolean;
  /** The signed note. */
  readonly note: string;
  /** Key with which others check the note in their own tools. */
  readonly verifierKey: string;
}

/**
 * Whether a valid ledger has the heads that were kept of it. Rejects with `StoreError` `bad_anchor` for a file that cannot be
 * read, and for text that is not a key. @param pem public keys that vouch for it
 */
export async function findAnchors(
  lines: AsyncIterable<string> | Iterable<string>,
  sources: AnchorSources,
  pem: string,
): Promise<AnchorReport> {
  const { kept, witnesses } = await chosenAnchors(sources);
  const keys = publicKeysOf(pem).map(({ raw }) => raw);
  return checkAnchors(lines, kept, { keys, witnesses, verify: isSigned });
}

/**
 * Checks a bundle offline, and compares it with heads that were kept of its ledger. Rejects with `StoreError` `bad_anchor`.
 * @param publicKey SPKI PEM of the expected signer
 * @param sources undefined if there is nothing to compare with
 */
export async function verifyAnchoredBundle(
  source: BundleSource,
  publicKey: string | undefined,
  sources: AnchorSources | undefined,
): Promise<Judged<BundleReport>> {
  const chosen = sources && (await chosenAnchors(sources));
  const report = await verifyLedgerBundle(source, publicKey);
  return judgeBundle(report, source, publicKey, chosen, { verify: isSigned });
}

async function chosenAnchors({ files, repository, witnesses }: AnchorSources): Promise<ChosenAnchors> {
  return {
    kept: [
      ...(await Promise.all(files.map((file) => notesOf(file)))).flat(),
      ...(repository === undefined ? [] : await readGitAnchors(repository)),
    ],
    witnesses: witnesses.map(witnessOf),
  };
}

/**
 * Signs the head of a workspace's ledger, which must be valid, and adds it to a witness file, or to git's notes of the present
 * commit. Adds nothing if the newest anchor there has the same head. Rejects with `StoreError` `bad_anchor`, and with
 * `contradicts_anchor` if the kept anchors are of another chain: then nothing is signed.
 */
export async function addAnchor(
  location: LedgerLocation,
  to: { readonly file: string } | { readonly git: true },
  now: () => number,
): Promise<AnchoredHead> {
  const { stateDir, workspaceRoot } = location;
  const pem = await readFile(ledgerPublicKeyFile(stateDir), "utf8");
  const isFile = "file" in to;
  const sources: AnchorSources = {
    files: isFile ? [to.file] : [],
    repository: isFile ? undefined : workspaceRoot,
    witnesses: [],
  };
  if (isFile) await ensureFile(to.file);
  await syncCommits(databaseFile(stateDir));
  const before = await findAnchors(ledgerLines(location), sources, pem);
  if (before.contradicted !== undefined) throw new StoreError("contradicts_anchor", before.contradicted.message);
  const head = await presentHead(ledgerLines(location));
  if (head === undefined)
    throw new StoreError("bad_anchor", "Nothing has been recorded yet: there is no head to anchor.");
  const signer = await openLedgerSigner(stateDir);
  using connection = StoreDatabase.openReadOnly(databaseFile(stateDir));
  if (connection !== undefined) useKeyInForce(signer, connection);
  const key = publicKeysOf(pem).find(({ keyId }) => keyId === signer.keyId);
  if (key === undefined)
    throw new StoreError("unsafe_key", "The public key of the ledger's key is not in its .pub file.");
  const text = checkpointText(head);
  const time = BigInt(Math.floor(now() / 1000));
  const signature = (kind: NoteKeyKind) => ({
    name: head.origin,
    keyId: noteKeyId({ name: head.origin, kind, publicKey: key.raw }),
    signature: withTime(signer.sign(signedBytes(text, kind, time)), kind, time),
  });
  const note = formatNote({ text, signatures: [signature("note"), signature("cosignature")] });
  const isNew = before.newest?.size !== head.size;
  if (isNew) await (isFile ? append(to.file, note) : addGitAnchor(workspaceRoot, note));
  return { ...head, isNew, note, verifierKey: verifierKey({ name: head.origin, kind: "note", publicKey: key.raw }) };
}

function isSigned(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(spkiOf(publicKey)), format: "der", type: "spki" });
    return verify(null, message, key, signature);
  } catch {
    return false;
  }
}

function witnessOf(text: string): NoteKey {
  const key = parseVerifierKey(text.trim());
  if (key === undefined) {
    throw new StoreError(
      "bad_anchor",
      `${JSON.stringify(text.slice(0, 200))} is not a verifier key: write NAME+KEYID+BASE64.`,
    );
  }
  return key;
}

async function notesOf(file: string): Promise<readonly KeptNote[]> {
  const text = await readText(file);
  return notesIn(text).map((note) => ({ note, where: file }));
}

/** Reads no device, and follows no link. */
async function readText(file: string): Promise<string> {
  try {
    await using handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = await handle.stat();
    if (!found.isFile() || found.size > maxBytes) throw new StoreError("bad_anchor", `${file} is not a witness file.`);
    return await handle.readFile("utf8");
  } catch (error) {
    if (error instanceof StoreError) throw error;
    throw new StoreError("bad_anchor", `The witness file ${file} cannot be read.`, { cause: error });
  }
}

async function ensureFile(file: string): Promise<void> {
  try {
    await using handle = await open(file, "ax", 0o644);
    await handle.sync();
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw new StoreError("bad_anchor", `${file} cannot be written.`, { cause: error });
  }
}

/** Appends, so that existing notes stay, no matter who adds at the same time. */
async function append(file: string, note: string): Promise<void> {
  try {
    await using handle = await open(file, "a", 0o644);
    const { size } = await handle.stat();
    await handle.appendFile(size === 0 ? note : `\n${note}`);
    await handle.sync();
  } catch (error) {
    throw new StoreError("bad_anchor", `${file} cannot be written.`, { cause: error });
  }
}

/** Below `refs/notes/`. */
const notesRef = "gennai-anchors";
const where = `git notes, refs/notes/${notesRef}`;
/** Most notes that are read. */
const mostNotes = 500;

/** The author of the notes' commit does not matter, because notes are signed, and git may not know its user. */
const nobody = ["-c", "user.name=gennai", "-c", "user.email=gennai@localhost"];

/** The content of a repository's git notes, no matter who added it. Empty without a repository. */
async function readGitAnchors(directory: string): Promise<readonly KeptNote[]> {
  const asked = (args: readonly string[]) => git(args, { directory }).catch(() => ({ code: 1, stdout: "" }));
  const listed = await asked(["notes", `--ref=${notesRef}`, "list"]);
  if (listed.code !== 0) return [];
  const ids = listed.stdout.split("\n").flatMap((line) => /^([0-9a-f]{40,64}) /.exec(line)?.[1] ?? []);
  if (ids.length === 0) return [];
  const { code, stdout } = await asked(["show", "--no-textconv", ...ids.slice(-mostNotes)]);
  return code === 0 ? notesIn(stdout).map((note) => ({ note, where })) : [];
}

/** Adds to the note of the present commit. Rejects with `StoreError` `bad_anchor`. */
async function addGitAnchor(directory: string, note: string): Promise<void> {
  const append = [...nobody, "notes", `--ref=${notesRef}`, "append", "-m", note, "HEAD"];
  const { code, stderr } = await git(append, { directory, writes: "working-tree" }).catch((error: unknown) => {
    throw new StoreError("bad_anchor", "git could not be run here.", { cause: error });
  });
  if (code !== 0) throw new StoreError("bad_anchor", `git did not take the note: ${stderr.trim()}`);
}
