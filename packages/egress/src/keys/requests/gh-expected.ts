import { canonicalJson } from "@gennai/protocol/canonical-json";
import { type ExpectedChange, exactly } from "../login/own-login.ts";
import type { GhApi } from "./gh-requests.ts";
import { parsedJson } from "./meanings.ts";

/**
 * What one plain call of gh changes, if its words say it: another text, and an object that they do not name, is asked about
 * when it comes.
 *
 * @param words behind `gh`
 * @param changes of each call that is known, by its first two words; the names of mutations, or method and path in the repository
 */
export function expectedGh(
  words: readonly string[],
  changes: Readonly<Record<string, string>>,
  api: KnownApi,
): ExpectedChange | undefined {
  if (words[0] === "api") return expectedRequest(words.slice(1), api);
  const listed = changes[words.slice(0, 2).join(" ")];
  if (listed === undefined) return undefined;
  const known = /^[A-Z]/.test(listed) ? [listed] : listed.split(" ");
  const said = new Set(
    words.slice(2).flatMap((word) => [word, word.trim(), ...word.split(/(?<=^-[\w-]+)=/), ...word.split(",")]),
  );
  const left = new Set(known);
  return {
    what: `do what \`gh ${words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word))).join(" ")}\` says`,
    covers: (what) => {
      const name = known.find((one) => left.has(one) && isSaid(what, { change: one, said, api }));
      return name !== undefined && left.delete(name);
    },
  };
}

type KnownApi = GhApi & { readonly usualBranch?: string };

interface Said {
  readonly change: string;
  readonly said: ReadonlySet<string>;
  readonly api: KnownApi;
}

function isSaid(what: string, { change, said, api: { root, repositories, usualBranch } }: Said): boolean {
  const [head = "", json = "{}"] = what.split(/ with (?=\{)(.*)/s, 2);
  const given = parsedJson(json);
  const isText = (text: string): boolean => said.has(text.trim()) || /^[A-Z_]*$/.test(text) || text === usualBranch;
  if (given === undefined || !textsIn(given).every(isText)) return false;
  const [method, path] = change.split(" ");
  if (path !== undefined) {
    const [, address = "", id = "", name = "", file = ""] =
      /^(\S+ [^ ]*?(?:\/workflows\/(\d+)\/dispatches)?)(?: about "(.*)" \((\S+)\))?$/.exec(head) ?? [];
    const isWorkflow = [id, name, file, file.replace(/^.*\//, "")].some((one) => one !== "" && said.has(one));
    return repositories.some((repository) => {
      const whole = `${method} ${root}repos/${repository}/${path}`.replace(/\/\.$/, "").split("/");
      const parts = address.split("/");
      const isPart = (part: string, at: number): boolean =>
        whole[at] === "*" ? said.has(part) : whole[at] === "WORKFLOW" ? isWorkflow : isSame(part, whole[at]);
      return parts.length === whole.length && parts.every(isPart);
    });
  }
  const [, name, objects = ""] = /^(\w+)\(input: \$input\)(?: about (.*))?$/s.exec(head) ?? [];
  const named = objects === "" ? [] : objects.split(", ");
  const isNamed = (object: string): boolean => {
    const [, kind = "", text = "", of = text] = /^(\w+) (\S+|".*")(?: of (\S+))?$/.exec(object) ?? [];
    if (kind === "User" || kind === "Organization") return said.has(text);
    const plain = text.replace(/^"(.*)"$/, "$1");
    return repositories.includes(of) && (/^(?:Repository|Milestone|IssueComment)$/.test(kind) || said.has(plain));
  };
  return name === change && named.length === idsIn(given).length && named.every(isNamed);
}

function isSame(part: string, other: string | undefined): boolean {
  return part.toLowerCase() === other?.toLowerCase();
}

/** The objects that variables name: texts of fields `…Id`, `…Ids`. */
export function idsIn(variables: unknown, name = ""): readonly string[] {
  if (typeof variables === "string") return /(?:^id|Ids?)$/.test(name) ? [variables] : [];
  if (Array.isArray(variables)) return variables.flatMap((one: unknown) => idsIn(one, name));
  if (typeof variables !== "object" || variables === null) return [];
  return [...new Set(Object.entries(variables).flatMap(([key, value]) => idsIn(value, key)))];
}

/** Texts that are sent, but for ids and the names of branches; inputs of a workflow with their names. */
function textsIn(value: unknown, name = ""): readonly string[] {
  if (typeof value === "string") return /(?:Ids?|RefName)$/.test(name) ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one: unknown) => textsIn(one, name));
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, one]) => (name === "inputs" ? [`${key}=${String(one)}`] : textsIn(one, key)))
    : [];
}

/** `gh api`: path, method and fields stand in its words. */
function expectedRequest(words: readonly string[], { root, repositories }: GhApi): ExpectedChange | undefined {
  const fields: Record<string, string> = {};
  let [path, method] = ["", ""];
  for (let at = 0; at < words.length; at += 1) {
    const [option = "", joined] = (words[at] ?? "").split(/(?<=^--[\w-]+)=(.*)/s);
    const value = (): string => joined ?? words[(at += 1)] ?? "";
    if (!option.startsWith("-")) {
      if (path !== "") return undefined;
      path = option;
    } else if (/^(?:-X|--method)$/.test(option)) method = value().toUpperCase();
    else if (/^(?:-f|--raw-field)$/.test(option)) {
      const [, name, text = ""] = /^([\w-]+)=(.*)$/s.exec(value()) ?? [];
      if (name === undefined) return undefined;
      fields[name] = text;
    } else if (/^(?:-q|--jq|-t|--template|--hostname)$/.test(option)) value();
    else if (!/^(?:-i|--include|--silent)$/.test(option)) return undefined;
  }
  const [only, ...others] = repositories;
  const [owner = "", name = ""] = others.length === 0 ? (only?.split("/") ?? []) : [];
  const whole = path.replace(/^\//, "").replaceAll("{owner}", owner).replaceAll("{repo}", name);
  const hasFields = Object.keys(fields).length > 0;
  const by = method === "" ? (hasFields ? "POST" : "GET") : method;
  if (whole === "" || whole === "graphql" || whole.includes("{") || (by === "GET" && hasFields)) return undefined;
  if (by === "GET") return exactly(`read ${root}${whole}`);
  return exactly(`${by} ${root}${whole}${hasFields ? ` with ${canonicalJson(fields)}` : ""}`);
}
