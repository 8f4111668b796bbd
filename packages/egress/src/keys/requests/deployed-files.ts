import { hash } from "node:crypto";
import { posix } from "node:path";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { leastHeld } from "../../network/held-body.ts";
import { refused, writes } from "./meanings.ts";

/** Bytes of all files. */
const maxBytes = 112 * 1024 * 1024;
/** Bytes. */
const maxList = 1024 * 1024;

interface KnownFile {
  readonly bytes: Buffer;
  /** The change that it is, or belongs to. */
  readonly what: string;
  /** Its version, as lists say it: of a snapshot also those with a time. */
  readonly versions: Set<string>;
}

/**
 * Files of releases that are put at paths of their own, as Maven does it: `GROUP/ARTIFACT/VERSION/ARTIFACT-VERSION.jar`. What came
 * first for a path is what is sent there, also when the command runs again, as a build may give other bytes each time. Checksums
 * and lists of versions belong to a file.
 */
export class DeployedFiles {
  /** By whole paths, in which a snapshot has no time yet. */
  readonly #known = new Map<string, KnownFile>();
  #bytes = 0;

  /** @param path whole, as other repositories of the host have the same paths in them @param inside path in the repository */
  reader(path: string, inside: string): BodyReader {
    const [, of, algorithm] = /^(.+)\.(md5|sha1|sha256|sha512)$/.exec(path) ?? [];
    if (of !== undefined && algorithm !== undefined)
      return { most: maxList, read: () => this.#checksum(of, algorithm) };
    if (posix.basename(path) !== "maven-metadata.xml")
      return { most: maxBytes, read: (bytes) => this.#file(path, bytes) };
    const root = path.slice(0, path.length - inside.length);
    return {
      most: maxList,
      read: (bytes) => ({ type: "compares", path, read: (there) => this.#list(path, { root, bytes, there }) }),
    };
  }

  #file(path: string, bytes: Buffer): RequestMeaning {
    const key = withoutTime(path);
    const [version = "", artifact = ""] = key.split("/").toReversed().slice(1);
    const begin = `${artifact}-${version}`;
    const name = posix.basename(key);
    if (!name.startsWith(begin) || !/^[.-]/.test(name.slice(begin.length)))
      return refused("Its name has not the artifact and version of its directory.");
    let known = this.#known.get(key);
    if (known === undefined) {
      this.#bytes += Math.max(bytes.length, leastHeld);
      if (this.#bytes > maxBytes) return refused("Its files are too long to be sent by one command.");
      known = { bytes, what: `deploy ${key} (sha256 ${hash("sha256", bytes)})`, versions: new Set([version]) };
      this.#known.set(key, known);
    }
    const time = version.endsWith("-SNAPSHOT") ? timeIn.exec(posix.basename(path))?.[0] : undefined;
    if (time !== undefined) known.versions.add(version.replace(/SNAPSHOT$/, time));
    return writes(known.what, known.bytes, { pretends: true });
  }

  #checksum(of: string, algorithm: string): RequestMeaning {
    const known = this.#known.get(withoutTime(of));
    if (known === undefined) return refused("It is the checksum of nothing that was deployed.");
    return writes(`${algorithm} of ${of}`, Buffer.from(hash(algorithm, known.bytes)), {
      pretends: true,
      follows: known.what,
    });
  }

  /** Versions of an artifact, or files of a snapshot: those that are there, and those that were deployed. */
  #list(
    path: string,
    { root, bytes, there }: { readonly root: string; readonly bytes: Buffer; readonly there: Buffer | undefined },
  ): RequestMeaning {
    const place = posix.dirname(path);
    const [said, before] = [leavesOf(bytes.toString()), leavesOf(there?.toString() ?? "")];
    if (said === undefined || before === undefined) return refused("It is no list of versions as Maven writes it.");
    const only = (of: string): string => said.flatMap(([name, text]) => (name === of ? [text] : [])).join();
    const artifact = `${root}${only("groupId").replaceAll(".", "/")}/${only("artifactId")}`;
    const added = said.filter(
      ([name, text]) => ofVersions.test(name) && !before.some(([other, old]) => name === other && text === old),
    );
    const keeps = before.every(([name, text]) => name !== "version" || said.some(([, one]) => one === text));
    const [, deployed] =
      [...this.#known].find(([file, { versions }]) => {
        const directory = posix.dirname(file);
        const isPlace = place === directory || place === artifact;
        return isPlace && posix.dirname(directory) === artifact && added.every(([, text]) => versions.has(text));
      }) ?? [];
    if (deployed === undefined || !keeps)
      return refused("It lists other versions than those that are there, and were deployed.");
    this.#known.set(path, { ...deployed, bytes });
    return writes(`list versions in ${path}`, bytes, { pretends: true, follows: deployed.what });
  }
}

type Leaf = readonly [name: string, text: string];

const ofVersions = /^(?:version|release|latest|value)$/;
const leaf =
  /<(groupId|artifactId|version|release|latest|value|lastUpdated|updated|timestamp|buildNumber|extension|classifier)>([\w.+-]*)<\/\1>/g;
const around =
  /^(?:\s|<\?xml [^<>]*\?>|<\/?(?:metadata|versioning|versions|snapshot|snapshotVersions|snapshotVersion)(?: [\w:]+="[^<>"]*")*\s*\/?>)*$/;

/** Elements with a text; undefined for a document with others in it. */
function leavesOf(text: string): readonly Leaf[] | undefined {
  if (!around.test(text.replaceAll(leaf, ""))) return undefined;
  return [...text.matchAll(leaf)].map(([, name = "", value = ""]) => [name, value]);
}

const timeIn = /\d{8}\.\d{6}-\d+/;

/** Of a snapshot, the same path for every time. */
function withoutTime(path: string): string {
  return path.replace(
    /(-SNAPSHOT\/)([^/]+)$/,
    (_whole, directory: string, name: string) => `${directory}${name.replace(timeIn, "SNAPSHOT")}`,
  );
}
