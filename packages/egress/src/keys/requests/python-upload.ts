import { hash } from "node:crypto";
import type { BodyReader, LoginRequest, RequestMeaning } from "../../network/added-login.ts";
import { readForm, writtenForm } from "./form-data.ts";
import { refused, writes } from "./meanings.ts";

/** Reads what twine, poetry, uv and others send to upload one file of a release; undefined for no form. */
export function pythonUpload({ headers }: Pick<LoginRequest, "headers">): BodyReader | undefined {
  const [, boundary = ""] =
    /^multipart\/form-data; ?boundary="?([\w'()+,./:=?-]{1,70})"?$/i.exec(headers["content-type"] ?? "") ?? [];
  return boundary === "" ? undefined : { most: maxBytes, read: (bytes) => uploadedFile(bytes, boundary) };
}

/** Bytes. */
const maxBytes = 112 * 1024 * 1024;

/** What a release says of itself, besides its name, version and needs; not shown. */
const described: ReadonlySet<string> = new Set(
  (
    "metadata_version summary description description_content_type author author_email maintainer maintainer_email license " +
    "license_expression license_file keywords classifiers platform supported_platform home_page download_url project_urls " +
    "requires_python requires_external provides provides_dist obsoletes obsoletes_dist provides_extra dynamic comment " +
    "filetype pyversion protocol_version :action"
  ).split(" "),
);

/** Hashes, of which only that is sent that is shown. */
const hashes: ReadonlySet<string> = new Set(["md5_digest", "sha256_digest", "blake2_256_digest"]);

/** One file of a release, whose name, version, hash and needs are shown. */
export function uploadedFile(bytes: Buffer, boundary: string): RequestMeaning {
  const parts = readForm(bytes, boundary);
  if (parts === undefined) return refused("It is not a form as uploads of packages send it.");
  const texts = (field: string): readonly string[] =>
    parts.flatMap(({ name, file, content }) => (name === field && file === undefined ? [content.toString()] : []));
  const [content, ...moreFiles] = parts.filter(({ file }) => file !== undefined);
  const [name, version] = [texts("name"), texts("version")];
  const other = parts.find(
    ({ name: field, file }) =>
      file === undefined &&
      !described.has(field) &&
      !hashes.has(field) &&
      !["name", "version", "requires_dist", "requires"].includes(field),
  );
  if (other !== undefined) return refused(`Its field ${other.name.slice(0, 50)} is not known for uploads.`);
  if (texts(":action").join() !== "file_upload") return refused("It is not the upload of a file.");
  if (content?.name !== "content" || content.file === undefined || moreFiles.length > 0)
    return refused("With a login, one file is uploaded at a time.");
  if (
    name.length !== 1 ||
    version.length !== 1 ||
    !/^[a-z0-9][\w.-]{0,99}$/i.test(name[0] ?? "") ||
    !/^\d[\w.!+-]{0,99}$/.test(version[0] ?? "")
  ) {
    return refused("The name or version cannot be read.");
  }
  if (!isFileOf(content.file, name[0] ?? "", version[0] ?? ""))
    return refused(`Its file is not named as one of ${name[0]} ${version[0]}.`);
  const sha256 = hash("sha256", content.content);
  const needs = [...texts("requires_dist"), ...texts("requires")].join(", ") || "nothing";
  const what = `upload ${name[0]} ${version[0]} (${content.file}, sha256 ${sha256}, needs ${needs})`;
  const kept = parts.filter(({ name: field }) => !hashes.has(field));
  const md5 = hash("md5", content.content);
  // Written anew: servers could read the form in other ways.
  const body = writtenForm(
    [
      ...kept,
      { name: "md5_digest", content: Buffer.from(md5) },
      { name: "sha256_digest", content: Buffer.from(sha256) },
    ],
    boundary,
  );
  return writes(what, body, { pretends: true });
}

/** Whether a wheel or source archive is named by this release. Names are compared as Python does. */
function isFileOf(file: string, name: string, version: string): boolean {
  const [, own = "", rest = ""] =
    /^([\w.]+(?:-[a-z_.][\w.]*)*)-(\d[\w.!+-]*(?:\.whl|\.tar\.gz|\.zip))$/i.exec(file) ?? [];
  const plain = (text: string): string => text.replaceAll(/[-_.]+/g, "-").toLowerCase();
  const after = rest.slice(version.length);
  return (
    plain(own) === plain(name) &&
    plain(rest.slice(0, version.length)) === plain(version) &&
    /^(?:\.tar\.gz|\.zip|-[\w.-]+\.whl)$/i.test(after)
  );
}
