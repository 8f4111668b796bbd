import { createHash, hash } from "node:crypto";
import { createReadStream, lstatSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { createInflate, inflateSync } from "node:zlib";
import { giveWay } from "@gennai/machine/entries/give-way";
import { hasCode } from "@gennai/machine/system-error";
import { startGit } from "./run/start-git.ts";

/**
 * The object files that do not contain what their names say. Git checks that when it fetches, and not when it reads: a file under
 * another object's name would change the content of every commit with that object.
 *
 * @param files absolute paths in a directory of objects; nobody may change them meanwhile
 */
export async function forgedObjects(files: readonly string[]): Promise<readonly string[]> {
  const all = new Set(files);
  const forged: string[] = [];
  for (const file of files) {
    await giveWay();
    // What git is to believe of a pack comes with the pack.
    const pack = /^(.+)\.(?:pack|idx|keep|promisor)$/.exec(file)?.[1];
    if (pack === undefined) {
      if (!(await isObject(file))) forged.push(file);
    } else if (!all.has(`${pack}.pack`) || !all.has(`${pack}.idx`)) forged.push(file);
    else if (file.endsWith(".pack") && !(await isPack(pack))) forged.push(file);
  }
  return forged;
}

/** Bytes of a file, and of its unpacked content, up to which it is read at once. */
const small = { file: 256 * 1024, content: 4 * 1024 * 1024 } as const;

async function isObject(file: string): Promise<boolean> {
  const large = basename(file);
  // Those of Git LFS have the whole name, and are not packed.
  if (large.length === 64) {
    const digest = createHash("sha256");
    await pipeline(createReadStream(file), digest);
    return digest.digest("hex") === large;
  }
  const id = basename(dirname(file)) + basename(file);
  const algorithm = id.length === 40 ? "sha1" : "sha256";
  try {
    if (lstatSync(file).size <= small.file) {
      try {
        return hash(algorithm, inflateSync(readFileSync(file), { maxOutputLength: small.content })) === id;
      } catch (error) {
        if (!hasCode(error, "ERR_BUFFER_TOO_LARGE")) throw error;
      }
    }
    const digest = createHash(algorithm);
    await pipeline(createReadStream(file), createInflate(), digest);
    return digest.digest("hex") === id;
  } catch (error) {
    // The file is damaged, so that git cannot read it either.
    if (hasCode(error, "Z_DATA_ERROR") || hasCode(error, "Z_BUF_ERROR")) return false;
    throw error;
  }
}

/** Checked by git, which reads each object, and compares the index. @param pack path without its ending */
async function isPack(pack: string): Promise<boolean> {
  const cwd = dirname(pack);
  const format = /-[0-9a-f]{64}$/.test(pack) ? "sha256" : "sha1";
  const running = await startGit(["verify-pack", `--object-format=${format}`, "--", `${pack}.idx`], {
    cwd,
    workTree: undefined,
    // The pack is in no repository, so that no settings around it apply.
    environment: { GIT_DIR: "/nonexistent" },
    readable: [cwd],
    writable: [],
    repository: "our-own",
  });
  running.stdin.end();
  running.stdout.resume();
  return (await running.ended).code === 0;
}
