import { hash } from "node:crypto";
import { isScalar, parseDocument, visit } from "yaml";
import { z } from "zod";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { refused, writes } from "./meanings.ts";
import { archiveEntries, ungzipped } from "./unpacked.ts";

/** Reads what `gem push` sends: the gem itself. */
export const gemPush: BodyReader = { most: 64 * 1024 * 1024, read: pushedGem };

/** Bytes. */
const maxMetadata = 1024 * 1024;

/** What a gem is made of. */
const known = /^(?:metadata|data\.tar|checksums\.yaml)\.gz(?:\.sig)?$/;

// `gem build` puts what looks like a number in quotes: `010` without them is another number in Ruby.
const version = z.object({ version: z.string().regex(/^\d+(?:\.[\da-z]+)*(?:-[\da-z.-]+)?$/i) });
const metadataShape = z.object({
  name: z.string().regex(/^[a-z0-9][\w.-]{0,99}$/i),
  version,
  platform: z.string(),
  dependencies: z.array(
    z.object({
      name: z.string(),
      type: z.string(),
      requirement: z.object({ requirements: z.array(z.tuple([z.string(), version])) }),
    }),
  ),
});

/** One gem, whose name, version, hash and needs are shown. */
export function pushedGem(bytes: Buffer): RequestMeaning {
  const gem = metadataOf(bytes);
  if (gem === undefined) return refused("It is no package whose metadata can be read in one way.");
  const needs = gem.dependencies.map(
    ({ name, type, requirement }) =>
      `${name} ${requirement.requirements.map(([sign, wanted]) => `${sign} ${wanted.version}`).join(" ")}${type === ":runtime" ? "" : ` (${type.slice(1)})`}`,
  );
  const platform = gem.platform === "ruby" ? "" : ` for ${gem.platform}`;
  const what = `publish ${gem.name} ${gem.version.version}${platform} (sha256 ${hash("sha256", bytes)}, needs ${needs.join(", ") || "nothing"})`;
  return writes(what);
}

function metadataOf(bytes: Buffer): z.infer<typeof metadataShape> | undefined {
  try {
    const entries = archiveEntries(bytes);
    const [metadata, ...more] = entries.filter(({ name }) => name === "metadata.gz");
    // Ruby takes the last of `metadata` and `metadata.gz`.
    const isOnlyGem = entries.every(({ name }) => known.test(name));
    if (metadata === undefined || more.length > 0 || !isOnlyGem) return undefined;
    const yaml = ungzipped(metadata.content, maxMetadata).toString();
    // Tags of objects are Ruby's types, and are left out.
    const document = parseDocument(yaml, { logLevel: "error" });
    // Ruby takes what stands behind `<<` for fields beside it, and a text with a tag, like `!binary`, for another one.
    let isOther = false;
    visit(document, {
      Pair: (_at, { key }) => void (isOther ||= !isScalar(key) || key.value === "<<" || typeof key.value !== "string"),
      Scalar: (_at, { tag }) => void (isOther ||= tag !== undefined),
    });
    return isOther || document.errors.length > 0
      ? undefined
      : metadataShape.safeParse(document.toJS({ maxAliasCount: 0 })).data;
  } catch {
    return undefined;
  }
}
