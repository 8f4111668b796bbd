import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { BodyReader, RequestMeaning } from "../../network/added-login.ts";
import { parsedJson, refused, writes } from "./meanings.ts";
import { isPlainVersion, publishedVersion } from "./npm-publish.ts";

const named = String.raw`((?:@[\w.~-]+(?:\/|%2f))?[\w.~][\w.~-]*)`;
const rev = String.raw`-rev/[\w.~-]+`;

const description = new RegExp(`^${named}(?:/${rev})?$`, "i");
const archive = new RegExp(`^${named}/-/([\\w.+~-]+\\.tgz)/${rev}$`, "i");
const tag = new RegExp(String.raw`^-/package/${named}/dist-tags/([\w.-]{1,100})$`, "i");

/**
 * Reads what a request would change of a package; undefined for one that is not known.
 *
 * @param path behind the registry's address
 * @param registry its address
 */
export function npmChange(method: string, path: string, registry: URL): BodyReader | undefined {
  const [, tagged = "", name = ""] = tag.exec(path) ?? [];
  if (tagged !== "")
    return method === "PUT"
      ? tagSetting(decoded(tagged), name)
      : without(method, `remove the tag ${name} of ${decoded(tagged)}`);
  const [, whose = "", file = ""] = archive.exec(path) ?? [];
  if (whose !== "") return without(method, `remove the archive ${file} of ${decoded(whose)}`);
  const [, found = ""] = description.exec(path) ?? [];
  if (found === "") return undefined;
  const whole = decoded(found);
  if (method !== "PUT") return path === found ? undefined : without(method, `unpublish all of ${whole}`);
  return {
    most: maxBytes,
    read: (bytes) => {
      const body = parsedJson(bytes);
      const isPublished =
        path === found && z.looseObject({ _attachments: z.record(z.string(), z.unknown()) }).safeParse(body).data;
      if (isPublished && Object.keys(isPublished._attachments).length > 0)
        return publishedVersion({ name: whole, registry }, bytes);
      return {
        type: "compares",
        path: new URL(`${found}?write=true`, registry).href.slice(registry.origin.length),
        read: (there) => changedDescription(whole, body, there && parsedJson(there)),
      };
    },
  };
}

/** Bytes. An archive is in it as base64. */
const maxBytes = 64 * 1024 * 1024;
/** More than a person reads. */
const maxChanges = 20;

function without(method: string, what: string): BodyReader | undefined {
  return method === "DELETE"
    ? {
        most: maxBytes,
        read: (bytes) =>
          bytes.length === 0 ? { type: "writes", what } : refused("It changes more than what it removes."),
      }
    : undefined;
}

function tagSetting(name: string, tagName: string): BodyReader {
  return {
    most: 1_000,
    read: (bytes) => {
      const version = parsedJson(bytes);
      if (typeof version !== "string" || !isPlainVersion(version)) return refused("It sets a tag to no plain version.");
      return {
        type: "writes",
        what: `set the tag ${tagName} of ${name} to ${version}`,
        body: Buffer.from(JSON.stringify(version)),
      };
    },
  };
}

const ownersShape = z.strictObject({
  _id: z.string(),
  _rev: z.string(),
  maintainers: z.array(z.strictObject({ name: z.string(), email: z.string().optional() })),
});
const descriptionShape = z.looseObject({ name: z.string(), versions: z.record(z.string(), z.unknown()) });

/** Owners alone, or a whole description that is sent back: what of it is another now. */
function changedDescription(name: string, body: unknown, there: unknown): RequestMeaning {
  const owners = ownersShape.safeParse(body).data;
  const said =
    owners?._id === name
      ? changedOwners(
          ownersShape.shape.maintainers.safeParse(fieldsOf(there)?.["maintainers"]).data,
          owners.maintainers,
        )
      : descriptionShape.safeParse(body).data?.name === name && there !== undefined
        ? differences(there, body)
        : undefined;
  if (said === undefined) return refused("What it would change of the package is not clear.");
  const what = `change ${name}: ${said.join("; ") || "nothing"}`;
  if (said.length > maxChanges) return refused("It has more fields than a question can show.");
  return writes(what, Buffer.from(JSON.stringify(body)));
}

type Owners = z.infer<typeof ownersShape>["maintainers"];

/** @param there undefined if they are not known */
function changedOwners(there: Owners | undefined, wanted: Owners): readonly string[] {
  const named = ({ name, email }: Owners[number]): string => `${name}${email === undefined ? "" : ` <${email}>`}`;
  if (there === undefined) return [`set the maintainers to ${wanted.map(named).join(", ") || "nobody"}`];
  const without = (some: Owners, others: Owners): Owners =>
    some.filter((one) => !others.some((other) => isDeepStrictEqual(one, other)));
  return [
    ...without(wanted, there).map((one) => `add ${named(one)} as owner`),
    ...without(there, wanted).map((one) => `remove ${named(one)} as owner`),
  ];
}

/** In words for people. */
function differences(before: unknown, after: unknown, place: readonly string[] = []): readonly string[] {
  if (isDeepStrictEqual(before, after)) return [];
  const [one, other] = [fieldsOf(before), fieldsOf(after)];
  if (one === undefined || other === undefined) return [`set ${placeName(place)} to ${JSON.stringify(after)}`];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => {
    const within = [...place, name];
    if (!Object.hasOwn(other, name)) return [`remove ${placeName(within)}`];
    return differences(Object.hasOwn(one, name) ? one[name] : undefined, other[name], within);
  });
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

function placeName(place: readonly string[]): string {
  return place.map((name) => (/^\w+$/.test(name) ? name : JSON.stringify(name))).join(".");
}

function decoded(name: string): string {
  return name.replace(/%2f/i, "/");
}
