import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { catalogueDate } from "../packages/models/src/gen/catalogue.ts";
import { helpIfAsked } from "../scripts/lib/command-line.mjs";
import { inRepository } from "../scripts/lib/repository.mjs";
import { assertCatalogueIsNew } from "./catalogue-age.ts";
import { gatesNamed } from "./gates/release-gates.ts";
import { makeArtefacts, makePackages, publish } from "./make-release.ts";
import { rehearse } from "./rehearse.ts";
import { ReleaseError } from "./release-error.ts";
import { runGates } from "./run-gates.ts";
import { setVersion } from "./set-version.ts";
import { makeSigningKey, privateKeyFile, readSigningKey, type SigningKey } from "./signing-key.ts";
import { sourceState } from "./source-state.ts";

/** `npm run release …`; what each command takes is in docs/release.md. */
const usage = `Usage:
  npm run pack [-- --install]                  makes gennai-VERSION.tgz and gennai-client-VERSION.tgz of this checkout,
                                               and installs the first as the command gennai
  npm run release:key -- DIRECTORY             makes a signing key, in a directory of your own
  npm run release:version -- VERSION           writes the version of the next release into every file that names it
  npm run release -- --out DIRECTORY [--key FILE] [--allow-dirty]
                                               makes the artefacts and their signed provenance
  npm run release:gates -- DIRECTORY [--key FILE] [--only NAME …]
                                               runs the gates and signs the record
  npm run release:rehearse -- [--only NAME …]  all of it, in fresh clones, with a key for the rehearsal alone
  node release/verify.mjs DIRECTORY --key FILE.pub
`;

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<boolean>>> = {
  async pack(args) {
    const { values } = parseArgs({ args: [...args], options: { install: { type: "boolean" } } });
    const root = inRepository();
    const files = await makePackages(root, sourceState(root), root);
    for (const each of files) print(`${basename(each)}  ${Math.ceil(statSync(each).size / 1024)} KB`);
    const [file = ""] = files;
    const name = basename(file);
    if (values.install !== true) {
      print(`Install it: npm install --global ./${name}`);
      return true;
    }
    const { status } = spawnSync("npm", ["install", "--global", file], { stdio: "inherit" });
    if (status !== 0) {
      throw new ReleaseError(
        "npm could not install it; it says why above. Where npm may not write: npm config set prefix ~/.local",
      );
    }
    print("Installed: gennai --version. Remove it: npm uninstall --global gennai");
    return true;
  },
  async key(args) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
    const [directory] = positionals;
    if (directory === undefined || positionals.length > 1) throw new UsageError();
    const { keyId, publicPem } = await makeSigningKey(resolve(directory));
    print(`Key ${keyId} is in ${privateKeyFile(resolve(directory))}. Keep it to yourself; publish this:\n${publicPem}`);
    return true;
  },
  async version(args) {
    const { positionals } = parseArgs({ args: [...args], allowPositionals: true });
    const [next] = positionals;
    if (next === undefined || positionals.length > 1) throw new UsageError();
    const changed = setVersion(inRepository(), next);
    print(`Version ${next} stands in ${changed.length} files now:\n${changed.map((name) => `  ${name}`).join("\n")}`);
    return true;
  },
  async make(args) {
    const { values } = parseArgs({
      args: [...args],
      options: { out: { type: "string" }, key: { type: "string" }, "allow-dirty": { type: "boolean" } },
    });
    if (values.out === undefined) throw new UsageError();
    const out = resolve(values.out);
    const root = inRepository();
    const source = sourceState(root);
    if (!source.clean && values["allow-dirty"] !== true) {
      throw new ReleaseError(
        "The checkout has changes: commit them. With --allow-dirty you can try, but nothing verifies it.",
      );
    }
    assertCatalogueIsNew(catalogueDate, source.time);
    const key = values.key === undefined ? await keyForOneRun(out) : readSigningKey(resolve(values.key));
    const artefacts = await makeArtefacts(root, source);
    publish(out, artefacts, { root, source, key });
    for (const [name, { length }] of artefacts) print(`${name}  ${Math.ceil(length / 1024)} KB`);
    print(`Release ${source.version} of ${source.commit} is in ${out}, signed by key ${key.keyId}.`);
    return true;
  },
  async gates(args) {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { key: { type: "string" }, only: { type: "string", multiple: true } },
      allowPositionals: true,
    });
    const [name] = positionals;
    if (name === undefined || positionals.length > 1) throw new UsageError();
    const directory = resolve(name);
    const key = readSigningKey(values.key === undefined ? privateKeyFile(`${directory}.key`) : resolve(values.key));
    const gates = gatesNamed(values.only);
    const record = await runGates({ root: inRepository(), directory, key, gates, print, signal: interrupted() });
    // A part of the gates makes no release, and is judged by itself.
    return values.only === undefined
      ? record.result === "passed"
      : record.gates.every(({ result }) => result === "passed");
  },
  async rehearse(args) {
    const { values } = parseArgs({ args: [...args], options: { only: { type: "string", multiple: true } } });
    await rehearse({ root: inRepository(), only: values.only, write, signal: interrupted() });
    return true;
  },
};

/** Without `--key`: a key beside the release, to be thrown away with it. */
async function keyForOneRun(out: string): Promise<SigningKey> {
  const directory = `${out}.key`;
  const key = await makeSigningKey(directory);
  print(`A dry run: signed by a key that nobody knows, in ${directory}.`);
  return key;
}

/** Aborts when this process is told to end, so that what it started ends with it. */
function interrupted(): AbortSignal {
  const stop = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
  return stop.signal;
}

/** The words do not make a command. */
class UsageError extends Error {
  override readonly name = "UsageError";
}

function print(line: string): void {
  write(`${line}\n`);
}

function write(text: string): void {
  process.stdout.write(text);
}

const [name = "", ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
try {
  helpIfAsked(usage, args);
  if (command === undefined) throw new UsageError();
  process.exitCode = (await command(args)) ? 0 : 1;
} catch (error) {
  const isUsage = error instanceof UsageError || (error instanceof TypeError && "code" in error);
  if (isUsage) process.stderr.write(error instanceof TypeError ? `error: ${error.message}\n\n${usage}` : usage);
  else if (error instanceof ReleaseError) process.stderr.write(`error: ${error.message}\n`);
  else throw error;
  process.exitCode = isUsage ? 2 : 1;
}
