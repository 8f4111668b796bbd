import { hash } from "node:crypto";
import { z } from "zod";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { unpacked } from "./unpacked.ts";

/** Reads what cargo sends to publish a crate: two parts with their lengths, JSON and the archive. */
export const publishesCrate: BodyReader = { most: 64 * 1024 * 1024, read: publishedCrate };

const dependency = z.looseObject({
  name: z.string(),
  version_req: z.string(),
  kind: z.string(),
  registry: z.string().nullish(),
});
const crateShape = z.looseObject({
  name: z.string().regex(/^[a-z0-9][\w-]{0,63}$/i),
  vers: z.string().regex(/^\d[\w.+-]{0,99}$/),
  deps: z.array(dependency),
});

/** Characters: more than a person reads in a question is not asked about. */
const maxShown = 4_000;

/** One version of a crate, whose archive and dependencies are shown. */
export function publishedCrate(bytes: Buffer): RequestMeaning {
  const [json, archive, ...more] = partsOf(bytes);
  if (json === undefined || archive === undefined || more.length > 0)
    return refused("It is not a crate as cargo sends it.");
  const crate = crateShape.safeParse(parsed(json)).data;
  if (crate === undefined) return refused("It says no plain name and version of a crate.");
  const { name, vers, deps } = crate;
  if (!holds(archive, `${name}-${vers}`)) return refused(`Its archive is not that of ${name} ${vers}.`);
  const named = deps.map(
    (one) =>
      `${one.name} ${one.version_req}${one.kind === "normal" ? "" : ` (${one.kind})`}${(one.registry ?? "") === "" ? "" : ` of ${one.registry}`}`,
  );
  const what = `publish ${name} ${vers} (sha256 ${hash("sha256", archive)}, dependencies: ${named.join(", ") || "none"})`;
  if (what.length > maxShown || /\p{Cc}/u.test(what)) return refused("It says more than a question can show.");
  // Written anew: where a name stands twice, the registry could read the other one.
  const text = Buffer.from(JSON.stringify(crate));
  return { type: "writes", what, body: Buffer.concat([lengthOf(text), text, lengthOf(archive), archive]) };
}

/** Parts with a length of four bytes, little-endian, before each; empty if these do not fit. */
function partsOf(bytes: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 <= bytes.length ? at + 4 + bytes.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (end > bytes.length) return [];
    parts.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return parts;
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(part.length);
  return length;
}

function parsed(json: Buffer): unknown {
  try {
    return JSON.parse(json.toString());
  } catch {
    return undefined;
  }
}

/** Whether all of an archive is below one directory, and a manifest in it. */
function holds(archive: Buffer, directory: string): boolean {
  try {
    const names = unpacked(archive).map(({ name }) => name);
    return names.every((name) => name.startsWith(`${directory}/`)) && names.includes(`${directory}/Cargo.toml`);
  } catch {
    return false;
  }
}

function refused(why: string): RequestMeaning {
  return { type: "refused", why };
}
