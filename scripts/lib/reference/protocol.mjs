import { spawnSync } from "node:child_process";
import { toolEnvironment } from "../packaged-node.mjs";
import { root } from "../repository.mjs";

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {number} number
 * @property {string} type as it is written in a .proto file, without the package
 * @property {string} oneof the group of which one is set; empty: none
 * @property {string} comment
 *
 * @typedef {object} Message
 * @property {string} name with those it stands in, e.g. `Outer.Inner`
 * @property {string} comment
 * @property {readonly Field[]} fields by number
 *
 * @typedef {object} Enumeration
 * @property {string} name
 * @property {string} comment
 * @property {readonly { readonly name: string, readonly number: number, readonly comment: string }[]} values
 *
 * @typedef {object} Service
 * @property {string} name
 * @property {string} comment
 * @property {readonly { readonly name: string, readonly comment: string, readonly input: string, readonly output: string, readonly streams: boolean }[]} methods
 *
 * @typedef {object} Protocol
 * @property {readonly Service[]} services by name
 * @property {readonly Message[]} messages by name
 * @property {readonly Enumeration[]} enumerations by name
 */

/**
 * What is used of https://protobuf.dev/reference/protobuf/google.protobuf as JSON.
 * @typedef {{ name: string, number: number, type: string, typeName?: string, label?: string, oneofIndex?: number, proto3Optional?: boolean }} RawField
 * @typedef {{ name: string, value: readonly { name: string, number?: number }[] }} RawEnum
 * @typedef {{ name: string, field?: readonly RawField[], nestedType?: readonly RawMessage[], enumType?: readonly RawEnum[], oneofDecl?: readonly { name: string }[], options?: { mapEntry?: boolean } }} RawMessage
 * @typedef {{ name: string, method: readonly { name: string, inputType: string, outputType: string, serverStreaming?: boolean }[] }} RawService
 * @typedef {{ path: readonly number[], leadingComments?: string, trailingComments?: string }} RawLocation
 * @typedef {{ package: string, messageType?: readonly RawMessage[], enumType?: readonly RawEnum[], service?: readonly RawService[], sourceCodeInfo: { location: readonly RawLocation[] } }} RawFile
 */

/** The protocol as its files have it, comments included. @returns {Protocol} */
export function readProtocol() {
  const { status, stdout, stderr } = spawnSync("buf", ["build", "--output", "-#format=json"], {
    cwd: root,
    env: toolEnvironment(),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error(`buf cannot read the protocol: ${stderr}`);
  /** @type {{ file: readonly RawFile[] }} */
  const image = JSON.parse(stdout);
  const files = image.file.filter((file) => file.package === "gennai.agent.v1");
  const read = files.map(readFile);
  return {
    services: byName(read.flatMap(({ services }) => services)),
    messages: byName(read.flatMap(({ messages }) => messages)),
    enumerations: byName(read.flatMap(({ enumerations }) => enumerations)),
  };
}

/** @param {RawFile} file @returns {Protocol} */
function readFile(file) {
  /** @type {ReadonlyMap<string, string>} */
  const comments = new Map(
    file.sourceCodeInfo.location.flatMap((location) => {
      const text = location.leadingComments ?? location.trailingComments;
      return text === undefined ? [] : [[location.path.join("."), text.trim().replace(/\s+/g, " ")]];
    }),
  );
  /** @param {...number} path @returns {string} */
  const commentAt = (...path) => comments.get(path.join(".")) ?? "";
  /** @type {Message[]} */
  const messages = [];
  /** @type {Enumeration[]} */
  const enumerations = [];

  /** @param {RawEnum} found @param {number[]} path @param {string} outer */
  const readEnumeration = (found, path, outer) => {
    enumerations.push({
      name: outer + found.name,
      comment: commentAt(...path),
      values: found.value.map((value, index) => ({
        name: value.name,
        number: value.number ?? 0,
        comment: commentAt(...path, 2, index),
      })),
    });
  };
  /** @param {RawMessage} found @param {number[]} path @param {string} outer */
  const readMessage = (found, path, outer) => {
    const name = outer + found.name;
    const fields = (found.field ?? []).map((field, index) => ({
      name: field.name,
      number: field.number,
      type: typeOf(field, found),
      oneof:
        field.oneofIndex === undefined || field.proto3Optional ? "" : (found.oneofDecl?.[field.oneofIndex]?.name ?? ""),
      comment: commentAt(...path, 2, index),
    }));
    fields.sort((one, other) => one.number - other.number);
    messages.push({ name, comment: commentAt(...path), fields });
    for (const [index, nested] of (found.nestedType ?? []).entries()) {
      if (!nested.options?.mapEntry) readMessage(nested, [...path, 3, index], `${name}.`);
    }
    for (const [index, nested] of (found.enumType ?? []).entries())
      readEnumeration(nested, [...path, 4, index], `${name}.`);
  };

  for (const [index, found] of (file.messageType ?? []).entries()) readMessage(found, [4, index], "");
  for (const [index, found] of (file.enumType ?? []).entries()) readEnumeration(found, [5, index], "");
  const services = (file.service ?? []).map((service, index) => ({
    name: service.name,
    comment: commentAt(6, index),
    methods: service.method.map((method, place) => ({
      name: method.name,
      comment: commentAt(6, index, 2, place),
      input: shortName(method.inputType),
      output: shortName(method.outputType),
      streams: method.serverStreaming === true,
    })),
  }));
  return { services, messages, enumerations };
}

/** @param {RawField} field @param {RawMessage} message that holds it @returns {string} */
function typeOf(field, message) {
  const named = field.typeName === undefined ? undefined : shortName(field.typeName);
  const entry = (message.nestedType ?? []).find(
    (nested) => nested.options?.mapEntry && named?.endsWith(`.${nested.name}`),
  );
  if (entry !== undefined) return `map<${(entry.field ?? []).map((part) => typeOf(part, entry)).join(", ")}>`;
  const type = named ?? field.type.replace(/^TYPE_/, "").toLowerCase();
  if (field.label === "LABEL_REPEATED") return `repeated ${type}`;
  return field.proto3Optional ? `optional ${type}` : type;
}

/** @param {string} name */
function shortName(name) {
  return name.replace(/^\.gennai\.agent\.v1\./, "").replace(/^\./, "");
}

/** @template {{ readonly name: string }} T @param {readonly T[]} list @returns {T[]} */
function byName(list) {
  return [...list].sort((one, other) => (one.name < other.name ? -1 : 1));
}
