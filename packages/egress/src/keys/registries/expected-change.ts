import type { FoundVerb } from "@gennai/governance/programs/known-programs";
import { type ExpectedChange, exactly } from "../login/own-login.ts";

/** What a call changes at a registry, if its words alone say it; of what else it sends, another question is asked. */
export function expectedChange({ program, name, rest }: FoundVerb): ExpectedChange | undefined {
  if (program.logins?.includes("cargo") === true) return name === "yank" ? expectedYank(rest) : undefined;
  const operands = operandsOf(rest, /^(?:--(?:otp|registry|loglevel)=.*|--silent|--quiet|-s)$/);
  const [first = "", second = "", third = "latest"] = operands ?? [];
  const [, called = "", version = ""] = spec.exec(name === "dist-tag" ? second : first) ?? [];
  if (program.logins?.includes("npm") !== true || called === "") return undefined;
  if (name === "deprecate" || name === "undeprecate") {
    return deprecated(called, version, name === "deprecate" ? second : "");
  }
  if (name !== "dist-tag") return undefined;
  if (/^(?:add|a|set|s)$/.test(first)) return exactly(`set the tag ${third} of ${called} to ${version}`);
  return undefined;
}

/** `demo@1.0.0`, `@me/demo@<2`, `demo`. */
const spec = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@(.+))?$/;

/** Which versions a range has is known to the registry. */
function deprecated(name: string, range: string, message: string): ExpectedChange {
  const said = JSON.stringify(message);
  const version = /^\d+\.\d+\.\d+/.test(range) && !range.includes(" ") ? literal(range) : String.raw`\d[\w.+-]*`;
  const part = String.raw`set versions\."${version}"\.deprecated to ${literal(said)}`;
  const all = new RegExp(`^change ${literal(name)}: ${part}(?:; ${part})*$`);
  const of = range === "" ? name : `${name}@${range}`;
  return {
    what: message === "" ? `take the deprecation of ${of} back` : `deprecate ${of}, saying ${said}`,
    covers: (what) => all.test(what),
  };
}

function expectedYank(rest: FoundVerb["rest"]): ExpectedChange | undefined {
  const words = rest.flatMap((word) => (word === undefined ? [] : word.split(/(?<=^--[a-z]+)=/)));
  const named = words.filter((word, at) => !/^-/.test(word) && !/^--(?!undo|quiet|verbose)/.test(words[at - 1] ?? ""));
  const at = words.findIndex((word) => /^--vers(?:ion)?$/.test(word));
  const [crate = "", version = at < 0 ? "" : words[at + 1]] = named[0]?.split("@") ?? [];
  if (crate === "" || version === "" || version === undefined || named.length > 1) return undefined;
  return exactly(`${words.includes("--undo") ? "unyank" : "yank"} ${crate} ${version}`);
}

/** Undefined where a word is not known, or an option may have another meaning. */
function operandsOf(rest: FoundVerb["rest"], options: RegExp): readonly string[] | undefined {
  const words = rest.flatMap((word) => word ?? []);
  const operands = words.filter((word) => !word.startsWith("-"));
  const isKnown = words.length === rest.length && words.every((word) => !word.startsWith("-") || options.test(word));
  return isKnown ? operands : undefined;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
