import { hash } from "node:crypto";
import { z } from "zod";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { parsedJson, refused, writes } from "./meanings.ts";
import { unpacked } from "./unpacked.ts";

/** Reads what cargo would change of a crate; undefined for what is not known. */
export function crateChange(method: string, path: string): BodyReader | undefined {
  // The index says where the registry's API is.
  const [, change = ""] = /^(?:\/[\w.-]+)*\/api\/v1\/crates\/([\w.+/-]+)$/.exec(path) ?? [];
  // Two parts with their lengths, JSON and the archive.
  if (`${method} ${change}` === "PUT new") return { most: 64 * 1024 * 1024, read: publishedCrate };
  const [, crate = "", version = "", verb = ""] = /^([\w-]+)\/([\w.+-]+)\/(yank|unyank)$/.exec(change) ?? [];
  if (verb !== "" && method === (verb === "yank" ? "DELETE" : "PUT")) {
    return { most: 0, read: () => ({ type: "writes", what: `${verb} ${crate} ${version}` }) };
  }
  const [, owned = ""] = /^([\w-]+)\/owners$/.exec(change) ?? [];
  if (owned === "" || !/^(?:PUT|DELETE)$/.test(method)) return undefined;
  return {
    most: maxOwners,
    read: (bytes) => {
      const body = z
        .strictObject({ users: z.array(z.string().regex(/^[\w:@.-]+$/)) })
        .safeParse(parsedJson(bytes)).data;
      if (body === undefined) return refused("The names of the owners cannot be read.");
      const what = `${method === "PUT" ? "add" : "remove"} ${body.users.join(", ")} as owners of ${owned}`;
      return { type: "writes", what, body: Buffer.from(JSON.stringify(body)) };
    },
  };
}

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
  features: z.record(z.string(), z.array(z.string())).optional(),
  links: z.string().nullish(),
});

/** Bytes. */
const maxOwners = 4_000;

/** One version of a crate, whose archive and dependencies are shown. */
export function publishedCrate(bytes: Buffer): RequestMeaning {
  const [json, archive, ...more] = partsOf(bytes);
  if (json === undefined || archive === undefined || more.length > 0)
    return refused("It is not a crate as cargo sends it.");
  const crate = crateShape.safeParse(parsedJson(json)).data;
  if (crate === undefined) return refused("The name or version of the crate cannot be read.");
  const { name, vers, deps, features = {}, links } = crate;
  if (!holds(archive, `${name}-${vers}`)) return refused(`Its archive is not that of ${name} ${vers}.`);
  const named = deps.map(
    (one) =>
      `${one.name} ${one.version_req}${one.kind === "normal" ? "" : ` (${one.kind})`}${(one.registry ?? "") === "" ? "" : ` of ${one.registry}`}`,
  );
  const enabled = Object.entries(features).map(([feature, more]) => `${feature} = [${more.join(", ")}]`);
  const said = [
    ...(enabled.length === 0 ? [] : [`, features: ${enabled.join(", ")}`]),
    ...((links ?? "") === "" ? [] : [`, links ${links}`]),
  ].join("");
  const what = `publish ${name} ${vers} (sha256 ${hash("sha256", archive)}, dependencies: ${named.join(", ") || "none"}${said})`;
  // Written anew: where a name stands twice, the registry could read the other one.
  const text = Buffer.from(JSON.stringify(crate));
  return writes(what, Buffer.concat([lengthOf(text), text, lengthOf(archive), archive]));
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

/** Whether all of an archive is below one directory, and a manifest in it. */
function holds(archive: Buffer, directory: string): boolean {
  try {
    const names = unpacked(archive).map(({ name }) => name);
    return names.every((name) => name.startsWith(`${directory}/`)) && names.includes(`${directory}/Cargo.toml`);
  } catch {
    return false;
  }
}
