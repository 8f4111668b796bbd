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

/** A bundle of in-toto: an envelope of DSSE a line. The first has the provenance, the second the record of the gates. */
export const attestationsFile = "release.intoto.jsonl";
export const keyFile = "release-key.pub";

export const statementType = "https://in-toto.io/Statement/v1";
export const provenanceType = "https://slsa.dev/provenance/v1";
export const buildType = "https://gennai.dev/release/v1";
export const recordType = "https://gennai.dev/release-record/v1";
export const payloadType = "application/vnd.in-toto+json";

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

/** What DSSE signs of a statement. @param {Uint8Array} payload */
export function signedMessage(payload) {
  const head = `DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `;
  return Buffer.concat([Buffer.from(head), payload]);
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

  const statements = signedStatements(directory, key, problems);
  const provenance = provenanceOf(statements?.get(provenanceType));
  // Without a provenance that the key vouches for, nothing else says anything.
  if (statements === undefined) return { problems, facts };
  if (provenance === undefined) {
    return { problems: [`${attestationsFile} has no provenance of a release of Gennai.`], facts };
  }
  const { subjects, commit, clean, release } = provenance;
  facts.push(`${attestationsFile} is signed by key ${keyIdOf(key)}.`, `Release ${release} was made from ${commit}.`);

  for (const name of readdirSync(directory)) {
    if (!subjects.has(name) && name !== attestationsFile && name !== keyFile) {
      problems.push(`${name} is not in ${attestationsFile}.`);
    }
  }
  for (const [name, sum] of subjects) {
    const digest = digestOfFile(join(directory, name));
    if (digest === undefined) problems.push(`${name} is missing, or no plain file.`);
    else if (digest !== sum) problems.push(`${name} was changed: its SHA-256 is ${digest}, not ${sum}.`);
    else facts.push(`${name} ${sum}`);
  }
  if (gates) {
    if (!clean) problems.push(`It was made from a checkout with changes that are not in ${commit}.`);
    if (version !== undefined && release !== version) problems.push(`It is release ${release}, not ${version}.`);
    checkRecord(statements.get(recordType), provenance, problems, facts);
  }
  return { problems, facts };
}

/** @typedef {{ subjects: Map<string, string>, release: string, commit: string, clean: boolean }} Provenance subjects: SHA-256 by name */

/**
 * @param {Readonly<Record<string, unknown>> | undefined} statement @param {Provenance} provenance
 * @param {string[]} problems @param {string[]} facts
 */
function checkRecord(statement, { subjects, commit }, problems, facts) {
  const recorded = subjectsOf(statement);
  const { result, commit: seen, gates: listed } = fieldsOf(statement?.predicate);
  if (recorded === undefined || !Array.isArray(listed)) {
    problems.push(`${attestationsFile} has no record of gates.`);
    return;
  }
  const same = recorded.size === subjects.size && [...subjects].every(([name, sum]) => recorded.get(name) === sum);
  if (!same || seen !== commit) problems.push(`The record of the gates is of another release.`);
  const gates = listed.map(fieldsOf).map(({ name, result: end, reason }) => {
    return { name: String(name), result: String(end), reason: String(reason) };
  });
  for (const wanted of requiredGates) {
    const [found, ...others] = gates.filter(({ name }) => name === wanted);
    const count = found === undefined ? 0 : 1 + others.length;
    if (found === undefined || count > 1) problems.push(`The gate ${wanted} is ${count} times in the record.`);
    else if (found.result !== "passed") problems.push(`The gate ${wanted} did not pass: ${found.reason}`);
  }
  for (const { name, result: end } of gates) {
    if (!requiredGates.includes(name) && end !== "passed") problems.push(`The gate ${name} did not pass.`);
    facts.push(`gate ${name}: ${end}`);
  }
  if (result !== "passed") problems.push("The record says that the release was refused.");
}

/** Undefined: not of a release as this script knows it. @param {Readonly<Record<string, unknown>> | undefined} statement @returns {Provenance | undefined} */
function provenanceOf(statement) {
  const subjects = subjectsOf(statement);
  const definition = fieldsOf(fieldsOf(statement?.predicate).buildDefinition);
  const { version, clean } = fieldsOf(definition.externalParameters);
  const sources = Array.isArray(definition.resolvedDependencies) ? definition.resolvedDependencies : [];
  const [commit] = sources.flatMap((each) => fieldsOf(fieldsOf(each).digest).gitCommit ?? []);
  if (subjects === undefined || definition.buildType !== buildType || typeof commit !== "string") return undefined;
  return { subjects, commit, clean: clean === true, release: String(version) };
}

/** SHA-256 by name; undefined unless every subject is a file of the directory itself. @param {Readonly<Record<string, unknown>> | undefined} statement */
function subjectsOf(statement) {
  /** @type {Map<string, string>} */
  const subjects = new Map();
  const listed = Array.isArray(statement?.subject) ? statement.subject.map(fieldsOf) : [];
  for (const { name, digest } of listed) {
    const { sha256: sum } = fieldsOf(digest);
    const fits = typeof name === "string" && /^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name) && !subjects.has(name);
    if (!fits || typeof sum !== "string" || !/^[0-9a-f]{64}$/.test(sum)) return undefined;
    subjects.set(name, sum);
  }
  return subjects.size > 0 ? subjects : undefined;
}

/**
 * The statements by type, if the key signed every one; else undefined and a problem.
 * @param {string} directory @param {import("node:crypto").KeyObject} key @param {string[]} problems
 */
function signedStatements(directory, key, problems) {
  const text = readPlainFile(join(directory, attestationsFile))?.toString("utf8");
  if (text === undefined) return void problems.push(`${attestationsFile} is missing, or no plain file.`);
  const lines = text.split("\n");
  if (lines.pop() !== "" || lines.length === 0) return void problems.push(`${attestationsFile} is cut off or empty.`);
  /** @type {Map<string, Readonly<Record<string, unknown>>>} */
  const statements = new Map();
  for (const line of lines) {
    const envelope = fieldsOf(parsed(line));
    const [signature, ...others] = Array.isArray(envelope.signatures) ? envelope.signatures.map(fieldsOf) : [];
    if (signature === undefined || others.length > 0 || envelope.payloadType !== payloadType) {
      return void problems.push(`${attestationsFile} has a line that is no signed statement.`);
    }
    const keyId = String(signature.keyid);
    if (keyId !== keyIdOf(key)) {
      return void problems.push(`${attestationsFile} is signed by key ${keyId}, not by ${keyIdOf(key)}.`);
    }
    const payload = Buffer.from(String(envelope.payload), "base64");
    if (!verify(null, signedMessage(payload), key, Buffer.from(String(signature.sig), "base64"))) {
      return void problems.push(`${attestationsFile} was changed after it was signed.`);
    }
    const statement = fieldsOf(parsed(payload.toString("utf8")));
    const type = String(statement.predicateType);
    if (statement._type !== statementType || ![provenanceType, recordType].includes(type)) {
      return void problems.push(`This script does not know ${type}: take the one of that release.`);
    }
    if (statements.has(type)) return void problems.push(`${attestationsFile} has two statements of ${type}.`);
    statements.set(type, statement);
  }
  return statements;
}

/** Undefined if it is no JSON. @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {unknown} value @returns {Readonly<Record<string, unknown>>} */
function fieldsOf(value) {
  return typeof value === "object" && value !== null ? { ...value } : {};
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
