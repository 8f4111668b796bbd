import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { giveWay } from "@gennai/machine/entries/give-way";
import { isWhiteout, modeOf, statIfPresent, withRights } from "@gennai/machine/entries/look-at-entry";
import { removeTree } from "@gennai/machine/entries/remove-tree";
import { replaceFileSync } from "@gennai/machine/replace-file";
import * as z from "zod";
import { type StagedRoot, stageParts } from "../transaction/staged-root.ts";
import { seconds } from "./copied-tree.ts";

/**
 * The changes of earlier runs, from which the next run on a copy goes on. They stay aside until that run's own are found, which
 * hold all of them: after a kill, the next one begins with them again.
 */
export class LaidChanges {
  readonly #upper: string;
  readonly #laid: string;
  readonly #merged: string;

  constructor({ directory }: StagedRoot) {
    this.#upper = join(directory, stageParts.upper);
    this.#laid = join(directory, stageParts.laid);
    this.#merged = join(directory, stageParts.merged);
  }

  /** Call it before the copy is made. */
  async putAside(): Promise<void> {
    if (existsSync(this.#laid)) {
      await removeTree(this.#upper);
    } else {
      renameSync(waysOf(this.#upper), waysOf(this.#laid));
      renameSync(this.#upper, this.#laid);
    }
    mkdirSync(this.#upper, { mode: 0o700 });
  }

  /** Changes the copy as the runs before did. */
  async lay(): Promise<void> {
    const { ways, gone } = schema.parse(JSON.parse(readFileSync(waysOf(this.#laid), "utf8")));
    const inPlace = new Set(ways);
    for (const path of gone) await this.#remove(path);
    const lay = async (path: string): Promise<void> => {
      const [from, to] = [join(this.#laid, path), join(this.#merged, path)];
      const stat = lstatSync(from, { bigint: true });
      // Which only an overlay needs.
      if (isWhiteout(stat)) return;
      if (!inPlace.has(path)) {
        await removeTree(to);
        await copy(Buffer.from(from), Buffer.from(to));
        return;
      }
      if (statIfPresent(to)?.isDirectory() !== true) {
        await removeTree(to);
        mkdirSync(to, { mode: 0o700 });
      }
      await withRights(to, modeOf(lstatSync(to, { bigint: true })), 0o700, async () => {
        for (const name of readdirSync(from)) await lay(path === "" ? name : `${path}/${name}`);
      });
      if (path !== "") look(to, stat);
    };
    await lay("");
  }

  async #remove(path: string): Promise<void> {
    const place = join(this.#merged, path);
    const parent = statIfPresent(dirname(place));
    if (parent?.isDirectory() !== true) return;
    await withRights(dirname(place), modeOf(parent), 0o700, () => removeTree(place));
  }

  /** Call it when all changes are in their place. */
  async replace(changes: ChangesOfCopy): Promise<void> {
    replaceFileSync(waysOf(this.#upper), JSON.stringify(changes));
    await removeTree(this.#laid);
    rmSync(waysOf(this.#laid), { force: true });
  }
}

const schema = z.strictObject({
  /** Directories in which something changed, and which were there before. */
  ways: z.array(z.string()),
  /** What went from them. */
  gone: z.array(z.string()),
});

/** What the files that a run on a copy wrote do not say by themselves. Paths in the root. */
export type ChangesOfCopy = Readonly<z.infer<typeof schema>>;

function waysOf(part: string): string {
  return `${part}.ways`;
}

async function copy(from: Buffer, to: Buffer): Promise<void> {
  await giveWay();
  const stat = lstatSync(from, { bigint: true });
  if (stat.isSymbolicLink()) {
    symlinkSync(readlinkSync(from, { encoding: "buffer" }), to);
    lutimesSync(to, seconds(stat.atimeNs), seconds(stat.mtimeNs));
    return;
  }
  if (stat.isFile()) copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  else {
    mkdirSync(to, { mode: 0o700 });
    for (const name of readdirSync(from, { encoding: "buffer" })) {
      await copy(Buffer.concat([from, slash, name]), Buffer.concat([to, slash, name]));
    }
  }
  look(to, stat);
}

const slash = Buffer.from("/");

function look(
  path: string | Buffer,
  stat: { readonly atimeNs: bigint; readonly mtimeNs: bigint; readonly mode: bigint },
): void {
  utimesSync(path, seconds(stat.atimeNs), seconds(stat.mtimeNs));
  chmodSync(path, Number(stat.mode & 0o7777n));
}
