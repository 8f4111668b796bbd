import type { FoundVerb } from "@gennai/governance/programs/known-programs";
import { changeBy, type ExpectedChange, exactly, literal } from "../login/own-login.ts";

/** What a call changes at a registry, if its words alone say it; of what else it sends, another question is asked. */
export function expectedChange({ program, name, rest }: FoundVerb): ExpectedChange | undefined {
  if (program.logins?.includes("cargo") === true) return changeOfCrate(name, rest);
  if (program.logins?.includes("npm") !== true) return undefined;
  const operands = operandsOf(rest, /^(?:--(?:otp|registry|loglevel)=.*|--silent|--quiet|-s|--force|-f)$/) ?? [];
  const [first = "", second = "", third] = operands;
  if (name === "owner") return changedOwner(first, second, third);
  const [, called = "", version = ""] = spec.exec(name === "dist-tag" ? second : first) ?? [];
  if (called === "") return undefined;
  if (name === "unpublish" && operands.length === 1) return unpublished(called, version);
  if (name === "deprecate") return deprecated(called, version, second);
  if (name === "undeprecate") return deprecated(called, version, "");
  if (name !== "dist-tag" || !/^(?:add|a|set|s)$/.test(first)) return undefined;
  return exactly(`set the tag ${third ?? "latest"} of ${called} to ${version}`);
}

/** `demo@1.0.0`, `@me/demo@<2`, `demo`. */
const spec = /^((?:@[\w.~-]+\/)?[\w.~-]+)(?:@(.+))?$/;

/** Which versions a range has is known to the registry. */
function deprecated(name: string, range: string, message: string): ExpectedChange {
  const said = JSON.stringify(message);
  const version = isOne.test(range) ? literal(range) : String.raw`\d[\w.+-]*`;
  const of = range === "" ? name : `${name}@${range}`;
  return changeBy(
    message === "" ? `take the deprecation of ${of} back` : `deprecate ${of}, saying ${said}`,
    changed(name, String.raw`set versions\."${version}"\.deprecated to ${literal(said)}`),
  );
}

/** A version, and no range. */
const isOne = /^\d+\.\d+\.\d+[\w.+-]*$/;

/** Of one version, its description goes, and then its archive. Its tags go, and `latest` gets another one. */
function unpublished(name: string, version: string): ExpectedChange | undefined {
  if (version === "") return exactly(`unpublish all of ${name}`);
  if (!isOne.test(version)) return undefined;
  const own = literal(version);
  const tag = String.raw`"dist-tags"\.(?:\w+|"[\w.-]+")`;
  const latest = String.raw`set "dist-tags"\.latest to "[\w.+-]+"`;
  return changeBy(
    `unpublish ${name}@${version}, and move its tags`,
    changed(
      name,
      String.raw`(?:remove (?:(?:versions|time)\."${own}"|${tag}|_revisions|_attachments)|${latest})`,
      String.raw`remove versions\."${own}"`,
    ),
    new RegExp(`^remove the archive ${literal(name.replace(/^.*\//, ""))}-${own}\\.tgz of ${literal(name)}$`),
  );
}

function changedOwner(verb: string, who: string, name = ""): ExpectedChange | undefined {
  const does = /^(?:add|a)$/.test(verb) ? "add" : /^(?:rm|remove|r)$/.test(verb) ? "remove" : undefined;
  if (does === undefined || !/^[\w.~-]+$/.test(who) || spec.exec(name)?.[1] !== name) return undefined;
  return changeBy(
    `${does} ${who} as owner of ${name}`,
    changed(name, String.raw`${does} ${literal(who)}(?: <[^<>;]*>)? as owner`),
  );
}

/** A description that is another in nothing but these. @param part a pattern of one of them @param needed of one that is among them */
function changed(name: string, part: string, needed = part): RegExp {
  return new RegExp(`^(?=.*(?:: |; )${needed}(?:; |$))change ${literal(name)}: ${part}(?:; ${part})*$`);
}

function changeOfCrate(name: string, rest: FoundVerb["rest"]): ExpectedChange | undefined {
  const words = rest.flatMap((word) => (word === undefined ? [] : word.split(/(?<=^--[a-z]+)=/)));
  const isValue = (at: number): boolean =>
    /^(?:--(?!undo|quiet|verbose|list)|-[ar]$)/.test(words[at] ?? "") && (name === "owner" || words[at] !== "-r");
  const [named = "", ...more] = words.filter((word, at) => !/^-/.test(word) && !isValue(at - 1));
  const after = (option: RegExp): readonly string[] => words.filter((_word, at) => option.test(words[at - 1] ?? ""));
  if (named === "" || more.length > 0) return undefined;
  if (name === "owner") {
    const [added, removed] = [after(/^(?:-a|--add)$/), after(/^(?:-r|--remove)$/)];
    if ((added.length === 0) === (removed.length === 0)) return undefined;
    return exactly(`${added.length > 0 ? "add" : "remove"} ${[...added, ...removed].join(", ")} as owners of ${named}`);
  }
  const [crate = "", version = after(/^--vers(?:ion)?$/)[0] ?? ""] = named.split("@");
  if (name !== "yank" || version === "") return undefined;
  return exactly(`${words.includes("--undo") ? "unyank" : "yank"} ${crate} ${version}`);
}

/** Undefined where a word is not known, or an option may have another meaning. */
function operandsOf(rest: FoundVerb["rest"], options: RegExp): readonly string[] | undefined {
  const words = rest.flatMap((word) => word ?? []);
  const operands = words.filter((word) => !word.startsWith("-"));
  const isKnown = words.length === rest.length && words.every((word) => !word.startsWith("-") || options.test(word));
  return isKnown ? operands : undefined;
}
