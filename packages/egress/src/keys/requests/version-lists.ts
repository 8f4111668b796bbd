import { z } from "zod";

const one = <Shape extends z.ZodType>(shape: Shape) => z.tuple([shape]).transform(([only]) => only);
const text = one(z.string());
const list = <Shape extends z.ZodRawShape>(versioning: Shape) =>
  z
    .strictObject({
      metadata: one(
        z.strictObject({
          groupId: text,
          artifactId: text,
          version: text.optional(),
          versioning: one(z.strictObject({ ...versioning, lastUpdated: text.optional() })),
        }),
      ),
    })
    .transform(({ metadata }) => metadata);

/** The versions of an artifact. */
const versionsShape = list({
  latest: text.optional(),
  release: text.optional(),
  versions: one(z.strictObject({ version: z.array(z.string()) })),
});

/** The newest files of a snapshot. */
const snapshotShape = list({
  snapshot: one(z.strictObject({ timestamp: text, buildNumber: text })),
  snapshotVersions: one(
    z.strictObject({
      snapshotVersion: z.array(
        z.strictObject({ classifier: text.optional(), extension: text, value: text, updated: text }),
      ),
    }),
  ).optional(),
});

export type VersionsList = z.infer<typeof versionsShape>;
export type SnapshotList = z.infer<typeof snapshotShape>;

/** Undefined for a document of any other form. */
export function versionsList(bytes: Buffer): VersionsList | undefined {
  return versionsShape.safeParse(elementsOf(bytes)).data;
}

/** Undefined for a document of any other form. */
export function snapshotList(bytes: Buffer): SnapshotList | undefined {
  return snapshotShape.safeParse(elementsOf(bytes)).data;
}

/** By their names, all with the same one together: the text in it, or the elements. */
interface Elements {
  [name: string]: (string | Elements)[];
}

const names =
  "metadata|groupId|artifactId|versioning|versions|version|release|latest|lastUpdated|" +
  "snapshotVersions|snapshotVersion|snapshot|timestamp|buildNumber|classifier|extension|value|updated";
const declaration = /^<\?xml version="1\.0"(?: encoding="UTF-8")?\?>/i;
const attributes = String.raw`(?: (?:modelVersion|xmlns|xmlns:xsi|xsi:schemaLocation)="[\w:/. -]*")`;
const piece = new RegExp(String.raw`\s*(?:<(${names})(${attributes}*)>(?:([\w.+-]+)</\1>)?|</(${names})>)\s*`, "g");

/** Undefined for what Maven does not write, as comments, entities, or attributes below the root: others could read it in other ways. */
function elementsOf(bytes: Buffer): Elements | undefined {
  const document = bytes.toString().replace(declaration, "");
  const root: Elements = {};
  const open: { readonly name: string; readonly within: Elements }[] = [{ name: "", within: root }];
  let at = 0;
  for (const { 0: whole, 1: name = "", 2: said = "", 3: value, 4: end, index } of document.matchAll(piece)) {
    const inner = open.at(-1);
    if (index !== at || inner === undefined) return undefined;
    at += whole.length;
    if (end !== undefined) {
      if (inner.name !== end) return undefined;
      open.pop();
      continue;
    }
    const given = [...said.matchAll(/[\w:]+(?==)/g)].map(([attribute]) => attribute);
    if (new Set(given).size < given.length || (given.length > 0 && open.length > 1)) return undefined;
    const within: Elements = {};
    (inner.within[name] ??= []).push(value ?? within);
    if (value === undefined) open.push({ name, within });
  }
  return at === document.length && open.length === 1 ? root : undefined;
}
