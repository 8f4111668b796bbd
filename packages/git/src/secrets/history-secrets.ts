import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { CompiledRules } from "@gennai/governance/rules/compile/compile-rules";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import { readWhole } from "../run/read-whole.ts";
import { openGit } from "../run/run-git.ts";
import { GitNamesFailed, gitNames } from "./git-names.ts";
import { judgeBy } from "./judge-by-rules.ts";
import { RepositorySecrets } from "./known-secrets.ts";

/** Most objects that are read, bytes of one, and values that are returned: anything beyond is not masked. */
const maxObjects = 500;
const maxObjectBytes = 64 * 1024;
const maxValues = 1_000;

/**
 * The values that a repository's history and index hold in files that nobody may read by the rules. Commands see git's objects,
 * so these values are masked in their output. Looks again only after a ref, HEAD or the index was written.
 */
export class HistorySecrets {
  readonly #workspace: string;
  readonly #home: string;
  readonly #rules: () => CompiledRules | Promise<CompiledRules>;
  #known: { readonly rules: string; readonly repository: RepositorySecrets } | undefined;
  #looked = "";
  readonly #objects = new Set<string>();
  readonly #values = new Set<string>();

  /** @param workspace real path @param home the user's */
  constructor(workspace: string, home: string, rules: () => CompiledRules | Promise<CompiledRules>) {
    this.#workspace = workspace;
    this.#home = home;
    this.#rules = rules;
  }

  /** Values not returned before; none if examining the history takes too long. */
  async look({ signal }: { readonly signal: AbortSignal }): Promise<readonly string[]> {
    const rules = await this.#rules();
    const state = `${rules.sha256} ${this.#written()}`;
    if (state === this.#looked) return [];
    if (this.#known?.rules !== rules.sha256) {
      this.#known = { rules: rules.sha256, repository: new RepositorySecrets(this.#workspace, judgeBy(rules)) };
    }
    try {
      const found = await this.#known.repository.look({ signal });
      const values = typeof found === "string" ? [] : await this.#told([...found.blobs], signal);
      this.#looked = state;
      return values;
    } catch (error) {
      if (error instanceof GitNamesFailed) return [];
      throw error;
    }
  }

  async #told(blobs: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const fresh = blobs.filter((id) => !this.#objects.has(id)).slice(0, maxObjects - this.#objects.size);
    for (const id of fresh) this.#objects.add(id);
    const values: string[] = [];
    for (const content of await this.#contents(fresh, signal)) {
      for (const value of secretValues(content)) {
        if (this.#values.has(value) || this.#values.size >= maxValues) continue;
        this.#values.add(value);
        values.push(value);
      }
    }
    return values;
  }

  async #contents(ids: readonly string[], signal: AbortSignal): Promise<readonly string[]> {
    const small: string[] = [];
    const input = ids.map((id) => `${id}\n`).join("");
    const place = { directory: this.#workspace, timeoutMs: 5_000, signal, separator: "\n", input } as const;
    if (ids.length > 0)
      await gitNames(
        ["cat-file", "--batch-check"],
        (line) => {
          const [, id, size] = /^([0-9a-f]+) blob (\d+)$/.exec(line) ?? [];
          if (id !== undefined && Number(size) <= maxObjectBytes) small.push(id);
        },
        place,
      );
    const contents: string[] = [];
    // As many at a time as one answer may hold.
    for (let at = 0; at < small.length; at += 100) {
      const running = await openGit(["cat-file", "--batch"], { directory: this.#workspace });
      running.stdin.end(
        small
          .slice(at, at + 100)
          .map((id) => `${id}\n`)
          .join(""),
      );
      contents.push(...contentsIn((await readWhole(running)).output));
    }
    return contents;
  }

  /** Changes whenever git writes a ref, HEAD or the index. */
  #written(): string {
    const stamps: string[] = [];
    const stamp = (path: string): void => {
      const stat = lstatSync(path, { throwIfNoEntry: false, bigint: true });
      if (stat !== undefined) stamps.push(`${stat.ino}.${stat.ctimeNs}`);
    };
    const walk = (directory: string): void => {
      // A ref is written to a new file and renamed: its directory changes.
      stamp(directory);
      for (const name of directoriesIn(directory)) walk(join(directory, name));
    };
    for (const git of repositoryPaths(this.#workspace, this.#home)?.writable ?? []) {
      for (const name of ["HEAD", "index", "packed-refs"]) stamp(join(git, name));
      walk(join(git, "refs"));
    }
    return stamps.join(" ");
  }
}

/** Empty if git is just removing the directory, or it does not exist. */
function directoriesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

/** `ID blob SIZE`, line end, so many bytes, line end. */
function* contentsIn(output: Buffer): Generator<string> {
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf("\n", at);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(output.subarray(at, end).toString("latin1")) ?? [];
    if (end < 0 || size === undefined) return;
    yield output.subarray(end + 1, end + 1 + Number(size)).toString("utf8");
    at = end + 1 + Number(size) + 1;
  }
}

/** Characters. Shorter values occur in ordinary text. */
const shortest = 8;
/** Characters of a line that is no setting, e.g. of a key. */
const shortestLine = 16;
const longest = 512;

/**
 * The secret values in the text of a file that holds secrets: values of settings (`KEY=value`, `key: value`, `"key": "value"`),
 * passwords in addresses, and whole lines of anything else. Excludes common words (`development`, `localhost`).
 */
export function secretValues(text: string): readonly string[] {
  const values = new Set<string>();
  for (const line of text.split(/\r?\n/)) {
    const trimmed = line.trim();
    if (trimmed === "" || /^(?:#|\/\/\s|;|-----)/.test(trimmed)) continue;
    const [, equals, colon, raw] = setting.exec(trimmed) ?? [];
    const value = unquoted(raw ?? trimmed);
    const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^/\s@]+)@/i.exec(value) ?? [];
    if (password !== undefined) values.add(password);
    else if (raw === undefined ? value.length >= shortestLine : isSecret(equals ?? colon ?? "", value))
      values.add(value);
  }
  return [...values].filter(({ length }) => length >= shortest && length <= longest);
}

/** An equals sign separates name and value, or else a colon. */
const setting = /^(?:export\s+)?["']?(?:([\w./:@-]{1,200}?)\s*=|([\w./@-]{1,100}?)["']?\s*:(?!\/\/))\s*(.+?)[,;]?$/;

function isSecret(name: string, value: string): boolean {
  if (value.length < shortest || /^(?:true|false|null|undefined|\$\{?\w+\}?)$/i.test(value)) return false;
  if (/passw|passphrase|secret|token|key|auth(?!or)|cred|private|signature|salt|pin\b/i.test(name)) return true;
  // A mixture of letters and digits without separators is no address, path or name.
  return /[0-9]/.test(value) && /[A-Za-z]/.test(value) && !/[\s/:.]/.test(value);
}

function unquoted(value: string): string {
  const [, , inner] = /^(["'`])(.*)\1$/s.exec(value) ?? [];
  return inner ?? value.replace(/\s+#.*$/, "");
}
