import { type Dirent, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { secretPath } from "@gennai/governance/command/secret-paths";
import type { HostLayout } from "@gennai/machine/host/host-layout";
import { holdsOnlyCertificates } from "@gennai/machine/host/only-certificates";
import { announcedSecrets } from "@gennai/machine/redaction/announced-secrets";
import { privateKeys } from "@gennai/machine/redaction/private-key";
import { tokenShapes } from "@gennai/machine/redaction/token-shapes";
import { type Looked, RememberedTree, type WalkedTree } from "@gennai/machine/workspace/files/remembered-tree";

type Secrets = readonly string[];

/**
 * The secrets within what commands see of a user's files: known by name, or by the shapes of keys in small text files. What
 * installers put into packages is not searched. A file that changes in place keeps its verdict until a name in its directory changes.
 */
export class ShownSecrets {
  readonly #ofTools: Secrets;
  readonly #places: readonly string[];
  readonly #trees: readonly RememberedTree<Secrets>[];

  private constructor(ofTools: Secrets, places: readonly string[]) {
    this.#ofTools = ofTools;
    this.#places = places;
    this.#trees = places.map(treeAt);
  }

  /** Looks at the tools' directories, once. @param pause awaited between small steps */
  static async in(
    { ofPeople, ofTools }: Pick<HostLayout, "ofPeople" | "ofTools">,
    pause: () => Promise<void>,
  ): Promise<ShownSecrets> {
    const found: string[] = [];
    for (const place of ofTools) {
      found.push(...secretsOf(await new RememberedTree(place, lookAtTools).walkPausing(pause)));
    }
    return new ShownSecrets(found, ofPeople);
  }

  /** Absolute paths, also of what is gone by now. Looks again at what people fill themselves. */
  paths(): Secrets {
    const files = this.#places.filter((place) => holdsKey(place, basename(place)));
    return [...this.#ofTools, ...files, ...this.#trees.flatMap((tree) => secretsOf(tree.walk()))];
  }
}

/** Secrets at a path or below it, where people keep files of their own. */
export function secretsAt(path: string): Secrets {
  return [...(holdsKey(path, basename(path)) ? [path] : []), ...secretsOf(treeAt(path).walk())];
}

/** Where people keep files of their own, or installers their packages. */
function treeAt(place: string): RememberedTree<Secrets> {
  return new RememberedTree(place, installed.test(basename(place)) ? lookAtPackages : lookAtPeoples);
}

/** What nobody can look into is hidden as well. */
function secretsOf({ found, unreadable, unlisted }: WalkedTree<Secrets>): Secrets {
  return [...[...found.values()].flat(), ...unreadable, ...unlisted.map(nameable)];
}

/** The nearest directory whose name is UTF-8. */
function nameable(path: string): string {
  const until = path.indexOf("\uFFFD");
  return dirname(until < 0 ? path : path.slice(0, until + 1));
}

/** Releases of tools bring keys and certificates for their own tests. */
function lookAtTools(directory: string, entries: readonly Dirent[]): Looked<Secrets> {
  return look(
    directory,
    entries,
    (path, name) => /rc$|\.(?:json|toml|ini|cfg|conf|env)$|^[^.]*$/i.test(name) && holdsKey(path, name),
  );
}

function lookAtPeoples(directory: string, entries: readonly Dirent[]): Looked<Secrets> {
  return look(
    directory,
    entries,
    (path, name) => (keyStore.test(name) && !holdsOnlyCertificates(path)) || holdsKey(path, name),
  );
}

/** Packages hold examples of keys, and programs need them whole; what else lies beside them is a cache, settings, a login. */
function lookAtPackages(directory: string, entries: readonly Dirent[]): Looked<Secrets> {
  const others = entries.filter(
    (entry) => entry.isDirectory() && entry.name.startsWith(".") && !stores.has(entry.name),
  );
  const { found } = lookAtPeoples(
    directory,
    entries.filter((entry) => !entry.isDirectory()),
  );
  return { found: [...found, ...others.map(({ name }) => join(directory, name))], below: [] };
}

function look(
  directory: string,
  entries: readonly Dirent[],
  isSecret: (path: string, name: string) => boolean,
): Looked<Secrets> {
  const found: string[] = [];
  const below: string[] = [];
  for (const entry of entries) {
    const { name } = entry;
    const path = join(directory, name);
    const isNamed = name.startsWith(".") || suspicious.test(name) ? secretPath(path) !== undefined : false;
    if (entry.isDirectory()) {
      // A program needs no history, and its settings may name a login.
      if (isNamed || name === ".git") found.push(path);
      else if (!installed.test(name)) below.push(name);
    } else if (isNamed) found.push(...namesOf(path));
    else if (entry.isFile() && isSecret(path, name)) found.push(path);
  }
  return { found, below };
}

/** A file, or a link and what it leads to. */
function namesOf(path: string): readonly string[] {
  try {
    return [path, realpathSync(path)];
  } catch {
    return [path];
  }
}

const installed = /^(?:node_modules|(?:site|dist)-packages|python\d[\d.]*|__pycache__|gems|rustlib|include|doc)$/;

/** In which npm, pnpm, yarn, Bun and Deno keep programs and packages, beside the packages. */
const stores: ReadonlySet<string> = new Set([".bin", ".pnpm", ".store", ".bun", ".deno"]);

const keyStore = /\.(?:pem|key|p12|pfx|ppk|jks|keystore)$/i;

/** Names with which `secretPath` may agree, besides hidden ones and key stores: it takes longer. */
const suspicious = /cred|secret|id_|netrc|kdbx|tfstate|service|kubeconfig|config/i;

const maxBytes = 64 * 1024;

const settings =
  /^[^.]+$|^\.[^.]+$|\.(?:json[c5]?|toml|ya?ml|ini|cfg|conf|config|properties|xml|env|txt|(?:ba|z|fi)?sh)$|rc$/i;

function holdsKey(path: string, name: string): boolean {
  try {
    const stat = statSync(path);
    if (!stat.isFile() || stat.size > maxBytes) return false;
    const text = readFileSync(path, "utf8");
    if (text.includes("\0")) return false;
    const found = [...privateKeys(text), ...tokenShapes(text), ...(settings.test(name) ? announcedSecrets(text) : [])];
    return found.length > 0;
  } catch {
    return false;
  }
}
