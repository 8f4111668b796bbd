#!/usr/bin/env node
// Checks a release: node verify.mjs DIRECTORY --key release-key.pub [--version 1.2.3]
//
// Needs nothing but Node 20: no package, no network, no private key. The key must be one that you have from elsewhere: a key that
// lies beside what it signed proves nothing, and neither does this script when it comes from there. Ends with 0 when everything
// holds, 1 when something does not, 2 for wrong usage.
import { createHash, createPublicKey, verify } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

export const sumsFile = "SHA256SUMS";
export const recordFile = "release-record.json";
export const keyFile = "release-key.pub";

/** Gates that every release must have passed. */
export const requiredGates = [
  "never-do",
  "plan-validation",
  "tool-boundary",
  "signature",
  "smoke",
  "smoke-vscode",
  "audit-parity",
  "upgrade",
  "reproducible",
  "whole-run",
];

/** @param {string} file */
export function signatureFile(file) {
  return `${file}.sig`;
}

/** What is signed for a file: its name goes in, so that no signature holds for another file. @param {string} file @param {Uint8Array} bytes */
export function signedMessage(file, bytes) {
  return Buffer.concat([Buffer.from(`gennai release: ${file}\n`), bytes]);
}

/** First 16 hex digits of the SHA-256 of the key's SPKI. @param {import("node:crypto").KeyObject} publicKey */
export function keyIdOf(publicKey) {
  return sha256(publicKey.export({ type: "spki", format: "der" })).slice(0, 16);
}

/** @param {Uint8Array} bytes */
export function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Checks all of a release, or, with `gates: false`, only that the files are those that were signed. Changes nothing.
 * @param {{ directory: string, publicKey: string, gates?: boolean, version?: string }} options `publicKey` is SPKI PEM
 * @returns {{ problems: string[], facts: string[] }} no problems: it holds
 */
export function verifyRelease({ directory, publicKey, gates = true, version }) {
  /** @type {string[]} */
  const problems = [];
  /** @type {string[]} */
  const facts = [];
  const key = readPublicKey(publicKey);
  if (key === undefined) return { problems: ["The key is not an Ed25519 public key (SPKI PEM)."], facts };

  const sums = signedBytes(directory, sumsFile, key, problems);
  const listed = sums === undefined ? undefined : parseSums(sums, problems);
  // Without sums that the key vouches for, nothing else says anything.
  if (sums === undefined || listed === undefined) return { problems, facts };
  facts.push(`${sumsFile} is signed by key ${keyIdOf(key)}.`);

  const own = [sumsFile, recordFile].flatMap((file) => [file, signatureFile(file)]);
  for (const name of readdirSync(directory)) {
    if (!listed.has(name) && !own.includes(name) && name !== keyFile) problems.push(`${name} is not in ${sumsFile}.`);
  }
  for (const [name, sum] of listed) {
    const digest = digestOfFile(join(directory, name));
    if (digest === undefined) problems.push(`${name} is missing, or no plain file.`);
    else if (digest !== sum) problems.push(`${name} was changed: its SHA-256 is ${digest}, not ${sum}.`);
    else facts.push(`${name} ${sum}`);
  }
  if (gates) {
    const bytes = signedBytes(directory, recordFile, key, problems);
    if (bytes !== undefined) checkRecord(bytes, { sums, listed, version }, problems, facts);
  }
  return { problems, facts };
}

/**
 * @param {Uint8Array} bytes @param {{ sums: Uint8Array, listed: Map<string, string>, version: string | undefined }} wanted
 * @param {string[]} problems @param {string[]} facts
 */
function checkRecord(bytes, { sums, listed, version }, problems, facts) {
  const record = parseRecord(bytes);
  if (record === undefined) {
    problems.push(`${recordFile} is not a record of a release.`);
    return;
  }
  if (record.version !== 1) {
    const format = String(record.version);
    problems.push(`${recordFile} has format ${format}; this script knows 1. Take the one of a newer release.`);
    return;
  }
  const { release, commit, gates, artefacts } = record;
  if (record.sums !== sha256(sums)) problems.push(`${recordFile} is of another ${sumsFile}.`);
  const same = artefacts.size === listed.size && [...listed].every(([name, sum]) => artefacts.get(name) === sum);
  if (!same) problems.push(`${recordFile} and ${sumsFile} do not name the same artefacts.`);
  if (!record.clean) problems.push(`It was made from a checkout with changes that are not in ${commit}.`);
  if (version !== undefined && release !== version) problems.push(`It is release ${release}, not ${version}.`);
  for (const wanted of requiredGates) {
    const [found, ...others] = gates.filter(({ name }) => name === wanted);
    const count = found === undefined ? 0 : 1 + others.length;
    if (found === undefined || count > 1) problems.push(`The gate ${wanted} is ${count} times in ${recordFile}.`);
    else if (found.result !== "passed") problems.push(`The gate ${wanted} did not pass: ${found.reason}`);
  }
  for (const { name, result } of gates) {
    if (!requiredGates.includes(name) && result !== "passed") problems.push(`The gate ${name} did not pass.`);
    facts.push(`gate ${name}: ${result}`);
  }
  if (record.result !== "passed") problems.push(`${recordFile} says that the release was refused.`);
  facts.push(`Release ${release} of commit ${commit}.`);
}

/** The parts of a record that are checked; undefined if it is invalid. @param {Uint8Array} bytes */
function parseRecord(bytes) {
  /** @type {unknown} */
  let value;
  try {
    value = JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
  const record = fieldsOf(value);
  const { artefacts, gates } = record;
  if (record.format !== "gennai-release-record" || !Array.isArray(artefacts) || !Array.isArray(gates)) return undefined;
  return {
    version: record.version,
    release: String(record.release),
    commit: String(record.commit),
    clean: record.clean === true,
    result: record.result,
    sums: record.sums_sha256,
    artefacts: new Map(
      artefacts.map(fieldsOf).map(({ name, sha256: sum }) => /** @type {const} */ ([String(name), String(sum)])),
    ),
    gates: gates.map(fieldsOf).map(({ name, result, reason }) => {
      return { name: String(name), result: String(result), reason: String(reason) };
    }),
  };
}

/** @param {unknown} value @returns {Readonly<Record<string, unknown>>} */
function fieldsOf(value) {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

/**
 * The bytes of a file when its signature by the key holds, else undefined and a problem.
 * @param {string} directory @param {string} file @param {import("node:crypto").KeyObject} key @param {string[]} problems
 */
function signedBytes(directory, file, key, problems) {
  const bytes = readPlainFile(join(directory, file));
  const text = readPlainFile(join(directory, signatureFile(file)))?.toString("utf8");
  if (bytes === undefined || text === undefined) {
    problems.push(`${bytes === undefined ? file : signatureFile(file)} is missing, or no plain file.`);
    return undefined;
  }
  const [, keyId = "", base64 = ""] = /^ed25519 ([0-9a-f]{16}) ([A-Za-z0-9+/]{86}==)\n$/.exec(text) ?? [];
  if (keyId === "") problems.push(`${signatureFile(file)} is not a signature.`);
  else if (keyId !== keyIdOf(key)) problems.push(`${file} is signed by key ${keyId}, not by ${keyIdOf(key)}.`);
  else if (verify(null, signedMessage(file, bytes), key, Buffer.from(base64, "base64"))) return bytes;
  else problems.push(`${file} was changed after it was signed.`);
  return undefined;
}

/**
 * @param {Uint8Array} bytes @param {string[]} problems
 * @returns {Map<string, string> | undefined} SHA-256 by name
 */
function parseSums(bytes, problems) {
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  /** @type {Map<string, string>} */
  const listed = new Map();
  for (const line of lines.slice(0, -1)) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}([A-Za-z0-9][A-Za-z0-9._-]*)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined || listed.has(name)) {
      problems.push(`${sumsFile} has a line that is none: ${JSON.stringify(line.slice(0, 200))}.`);
      return undefined;
    }
    listed.set(name, sum);
  }
  if (lines.at(-1) === "" && listed.size > 0) return listed;
  problems.push(`${sumsFile} is cut off or empty.`);
  return undefined;
}

/** @param {string} pem */
function readPublicKey(pem) {
  try {
    const key = createPublicKey(pem);
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}

/** undefined for what is missing, a link, a directory or a device. @param {string} path */
function readPlainFile(path) {
  return withPlainFile(path, (descriptor) => readFileSync(descriptor));
}

/** In pieces: an artefact may be large. @param {string} path */
function digestOfFile(path) {
  return withPlainFile(path, (descriptor) => {
    const hash = createHash("sha256");
    const buffer = Buffer.alloc(1 << 20);
    for (let size = readSync(descriptor, buffer); size > 0; size = readSync(descriptor, buffer)) {
      hash.update(buffer.subarray(0, size));
    }
    return hash.digest("hex");
  });
}

/**
 * @template T
 * @param {string} path @param {(descriptor: number) => T} read
 * @returns {T | undefined}
 */
function withPlainFile(path, read) {
  let descriptor;
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  } catch {
    return undefined;
  }
  try {
    return fstatSync(descriptor).isFile() ? read(descriptor) : undefined;
  } finally {
    closeSync(descriptor);
  }
}

/** @param {readonly string[]} args @returns {number} exit code */
function main(args) {
  /** @type {Record<string, string>} */
  const options = {};
  const names = [];
  for (let at = 0; at < args.length; at++) {
    const [, option] = /^--(key|version)$/.exec(args[at] ?? "") ?? [];
    if (option !== undefined && args[at + 1] !== undefined) options[option] = String(args[++at]);
    else names.push(args[at] ?? "");
  }
  const [directory] = names;
  if (names.length !== 1 || directory === undefined || directory.startsWith("-") || options.key === undefined) {
    process.stderr.write("Usage: node verify.mjs DIRECTORY --key release-key.pub [--version 1.2.3]\n");
    process.stderr.write("Name the key that you trust: one from the same directory proves nothing.\n");
    return 2;
  }
  let publicKey;
  try {
    publicKey = readFileSync(options.key, "utf8");
    readdirSync(directory);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  const { version } = options;
  const { problems, facts } = verifyRelease({
    directory: resolve(directory),
    publicKey,
    ...(version === undefined ? {} : { version }),
  });
  for (const fact of facts) process.stdout.write(`${fact}\n`);
  for (const problem of problems) process.stderr.write(`REFUSED: ${problem}\n`);
  if (problems.length === 0) process.stdout.write("The release holds.\n");
  return problems.length === 0 ? 0 : 1;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = main(process.argv.slice(2));
}
