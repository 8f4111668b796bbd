import { hash } from "node:crypto";
import { posix } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { leastHeld } from "../../network/held-body.ts";
import { refused, writes } from "./meanings.ts";
import { type SnapshotList, snapshotList, type VersionsList, versionsList } from "./version-lists.ts";

/** Bytes of all files. */
const maxBytes = 112 * 1024 * 1024;
/** Bytes. */
const maxList = 1024 * 1024;

interface KnownFile {
  readonly bytes: Buffer;
  /** The change that it is, or belongs to. */
  readonly what: string;
  /** Of a snapshot that was put last, as `20261130.120000-1`. */
  readonly time?: string | undefined;
}

/**
 * Files of releases that are put at paths of their own, as Maven does it: `GROUP/ARTIFACT/VERSION/ARTIFACT-VERSION.jar`. What came
 * first for a path is what is sent there, also when the command runs again, as a build may give other bytes each time. Checksums
 * and lists of versions belong to a file.
 */
export class DeployedFiles {
  /** By paths in which a snapshot has no time yet. */
  readonly #known = new Map<string, KnownFile>();
  #bytes = 0;

  /** @param path in the repository @param root path of the repository on its host */
  reader(path: string, root: string): BodyReader {
    const [, of, algorithm] = /^(.+)\.(md5|sha1|sha256|sha512)$/.exec(path) ?? [];
    if (of !== undefined && algorithm !== undefined)
      return { most: maxList, read: () => this.#checksum(of, algorithm) };
    if (posix.basename(path) !== "maven-metadata.xml")
      return { most: maxBytes, read: (bytes) => this.#file(path, bytes) };
    return {
      most: maxList,
      read: (bytes) => ({
        type: "compares",
        path: `${root}${path}`,
        read: (there) => this.#list(path, { bytes, there }),
      }),
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
      known = { bytes, what: `deploy ${key} (sha256 ${hash("sha256", bytes)})` };
    }
    const time = version.endsWith("-SNAPSHOT") ? timeIn.exec(posix.basename(path))?.[0] : undefined;
    this.#known.set(key, { ...known, time });
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

  #list(path: string, list: SentList): RequestMeaning {
    const directory = posix.dirname(path);
    const deployed = directory.endsWith("-SNAPSHOT")
      ? this.#inSnapshot(directory, list)
      : this.#inVersions(directory, list);
    if (deployed === undefined)
      return refused("It lists other versions than those that are there and deployed, or is not as Maven writes it.");
    this.#known.set(path, { ...deployed, bytes: list.bytes });
    return writes(`list versions in ${path}`, list.bytes, { pretends: true, follows: deployed.what });
  }

  /** The deployed file whose version a list adds to those that are there; undefined for any other list. */
  #inVersions(directory: string, { bytes, there }: SentList): KnownFile | undefined {
    const [said, before] = [versionsList(bytes), there && versionsList(there)];
    if (said === undefined || (there !== undefined && before === undefined)) return undefined;
    if (said.version !== undefined || directory !== placeOf(said)) return undefined;
    const { versions, release, latest } = said.versioning;
    const old = before?.versioning;
    return this.#find((key) => {
      const version = posix.basename(posix.dirname(key));
      return (
        posix.dirname(posix.dirname(key)) === directory &&
        isDeepStrictEqual(new Set(versions.version), new Set([...(old?.versions.version ?? []), version])) &&
        [version, old?.release].includes(release) &&
        [version, old?.latest].includes(latest)
      );
    });
  }

  /** A deployed file of a snapshot whose list names those of its time, and else what is there; undefined for any other list. */
  #inSnapshot(directory: string, { bytes, there }: SentList): KnownFile | undefined {
    const [said, before] = [snapshotList(bytes), there && snapshotList(there)];
    if (said === undefined || (there !== undefined && before === undefined)) return undefined;
    const version = posix.basename(directory);
    if (said.version !== version || directory !== `${placeOf(said)}/${version}`) return undefined;
    const time = timeOf(said);
    const [named, old] = [filesIn(said), filesIn(before)];
    const times = [...(before === undefined ? [] : [timeOf(before)]), ...old.values()];
    // An older build may have been put again, or hold what nobody agreed to now.
    if (!times.every((one) => sortable(one) < sortable(time))) return undefined;
    const isNamed = ([file, value]: readonly [string, string]): boolean =>
      this.#known.get(`${directory}/${said.artifactId}-${version}${file}`)?.time === time
        ? value === `${version.replace(/SNAPSHOT$/, "")}${time}`
        : value === old.get(file);
    const isWhole =
      named.size === (said.versioning.snapshotVersions?.snapshotVersion.length ?? 0) &&
      [...old.keys()].every((file) => named.has(file));
    if (!isWhole || ![...named].every(isNamed)) return undefined;
    return this.#find((key, known) => posix.dirname(key) === directory && known.time === time);
  }

  #find(matches: (key: string, known: KnownFile) => boolean): KnownFile | undefined {
    return [...this.#known].find(([key, known]) => matches(key, known))?.[1];
  }
}

interface SentList {
  readonly bytes: Buffer;
  /** The host's. */
  readonly there: Buffer | undefined;
}

function placeOf({ groupId, artifactId }: VersionsList | SnapshotList): string {
  return `${groupId.replaceAll(".", "/")}/${artifactId}`;
}

function timeOf({ versioning }: SnapshotList): string {
  const { timestamp, buildNumber } = versioning.snapshot;
  return `${timestamp}-${buildNumber}`;
}

/** The version with a time, by what stands behind the version in a file's name. */
function filesIn(list: SnapshotList | undefined): ReadonlyMap<string, string> {
  const files = list?.versioning.snapshotVersions?.snapshotVersion ?? [];
  return new Map(
    files.map(({ classifier, extension, value }) => [
      `${classifier === undefined ? "" : `-${classifier}`}.${extension}`,
      value,
    ]),
  );
}

/** A time, or a version with one, so that a later one is sorted behind it. */
function sortable(text: string): string {
  const [time = ""] = timeIn.exec(text) ?? [];
  return time.replace(/\d+$/, (number) => number.padStart(20, "0"));
}

const timeIn = /\d{8}\.\d{6}-\d+/;

/** Of a snapshot, the same path for every time. */
function withoutTime(path: string): string {
  return path.replace(
    /(-SNAPSHOT\/)([^/]+)$/,
    (_whole, directory: string, name: string) => `${directory}${name.replace(timeIn, "SNAPSHOT")}`,
  );
}
