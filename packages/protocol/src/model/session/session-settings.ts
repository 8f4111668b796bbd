import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  EditingMode as EditingModeMessage,
  type Settings as SettingsMessage,
  type SettingsSchema,
  Verbosity as VerbosityMessage,
} from "../../gen/gennai/agent/v1/agent_pb.ts";
import { InvalidField } from "../checked-field.ts";
import { EnumWords } from "../enum-words.ts";
import { type Backend, backendWords } from "./backend.ts";
import { effortWords } from "./effort.ts";

export const editingModeWords = new EnumWords({
  branch: EditingModeMessage.BRANCH,
  proposal: EditingModeMessage.PROPOSAL,
});

/** `branch`: the agent writes on a branch of its own. `proposal`: nothing is written, changes are proposed. */
export type EditingMode = (typeof editingModeWords.words)[number];

const verbosityWords = new EnumWords({
  terse: VerbosityMessage.TERSE,
  normal: VerbosityMessage.NORMAL,
  detailed: VerbosityMessage.DETAILED,
});

export const verbosities = verbosityWords.words;

/** How much the agent writes. It changes the prompt alone: no rule may look at it. */
export type Verbosity = (typeof verbosities)[number];

/** What a session can be told to run with, one row each: the default, and the field of the same name in `Settings`. */
const rows = {
  backend: oneOf(backendWords, "offline"),
  /** Model name; for `scripted`, the path of the script. */
  model: text(),
  baseUrl: text(urlProblem),
  /** Output tokens an answer may take; 0: the provider's default. */
  maxTokens: count(0, 2 ** 31 - 1),
  /** Model calls a turn may take. */
  maxIterations: count(500, 1000),
  editingMode: oneOf(editingModeWords, "branch"),
  verbosity: oneOf(verbosityWords, "normal"),
  /** How hard a model thinks, where thinking is on; empty: as is usual with its provider. */
  effort: chosen(effortWords),
  /** Tokens the model can take, in place of what is known of it. 0, here and below: no such limit. */
  maxContextTokens: limit(Number),
  /** Tokens in and out, over all of the session's turns, sub-agents included. */
  maxSessionTokens: limit(BigInt),
  /** The same, over one turn. */
  maxTurnTokens: limit(BigInt),
  /** Over all of the session's turns, in the currency of the prices. */
  maxCost: limit(Number),
  /** Seconds a question waits for an attached person's answer; 0: until it is answered. */
  questionSeconds: { ...limit(Number), otherwise: 600 },
  /** A person typed `baseUrl`: no key of the server's own goes there, unless the person who runs the server named it too. */
  handedKeyOnly: flag(),
} satisfies Readonly<Record<FieldName, Setting<unknown>>>;

type FieldName = Exclude<keyof SettingsMessage, "$typeName" | "$unknown" | "workingDir">;
type Values = { readonly [Name in FieldName]: (typeof rows)[Name]["otherwise"] };

/** What a session runs with. */
export interface SessionSettings extends Values {
  /** True if a user can answer requests. */
  readonly interactive: boolean;
}

/** Settings for a session; missing ones stay unchanged, or are the server's default. */
export interface SettingsChoice extends Partial<Values> {
  /** Absolute path of the workspace; fixed once the session has started. */
  readonly workingDir?: string;
}

/** What a client is told about a session. */
export interface ReportedSettings extends Omit<Values, "backend"> {
  /** undefined: a backend that this client does not know. */
  readonly backend: Backend | undefined;
  readonly workingDir: string;
}

/** Of a server that was told nothing. */
export const settingDefaults: SessionSettings = {
  ...collect<Values>((_name, row) => row.otherwise),
  interactive: true,
};

/** Settings from an older log: newer settings get their default, and limits were in a separate object. */
export function settingsFromLog(
  logged: Partial<SessionSettings> & { readonly limits?: Partial<Values> },
): SessionSettings {
  const { limits, ...rest } = logged;
  return { ...settingDefaults, ...limits, ...rest };
}

export function settingsToMessage(settings: SettingsChoice): MessageInitShape<typeof SettingsSchema> {
  return {
    ...collect<MessageInitShape<typeof SettingsSchema>>((name, row) =>
      settings[name] === undefined ? undefined : row.toMessage(settings[name]),
    ),
    workingDir: settings.workingDir ?? "",
  };
}

/** What a server says. What this client does not know is the default. */
export function settingsFromMessage(message: SettingsMessage | undefined): ReportedSettings {
  return {
    ...collect<Values>((name, row) => row.fromMessage(message?.[name]) ?? row.otherwise),
    backend: backendWords.fromMessage(message?.backend),
    workingDir: message?.workingDir ?? "",
  };
}

/** What a client asks for over what is in force. Throws `InvalidField`. */
export function changedSettings(current: SessionSettings, message: SettingsMessage | undefined): SessionSettings {
  if (message === undefined) return current;
  const choice = collect<Partial<Values>>((name, row) => {
    const problem = row.problem(message[name]);
    if (problem !== undefined) throw new InvalidField(`The setting ${settingWords(name)} ${problem}.`);
    return row.fromMessage(message[name]);
  });
  // A model name or URL belongs to its backend: another backend does not inherit them.
  const staysThere = choice.backend === undefined || choice.backend === current.backend;
  return {
    ...current,
    ...(staysThere ? {} : { model: "", baseUrl: "" }),
    // So does `handedKeyOnly`, which belongs to the URL.
    ...(staysThere && choice.baseUrl === undefined ? {} : { handedKeyOnly: false }),
    ...choice,
  };
}

/** A setting between here and its field. */
interface Setting<Value> {
  /** Where nobody chose. */
  readonly otherwise: Value;
  toMessage(value: Value): unknown;
  /** undefined: nothing was chosen, or something that is not known here. */
  fromMessage(field: unknown): Value | undefined;
  /** Why the field cannot be, to follow its name. */
  problem(field: unknown): string | undefined;
}

function oneOf<Word extends string>(words: EnumWords<Word, number>, otherwise: Word): Setting<Word> {
  return {
    otherwise,
    toMessage: (word) => words.toMessage(word),
    fromMessage: (field) => words.fromMessage(Number(field)),
    problem: (field) =>
      field === 0 || words.fromMessage(Number(field)) !== undefined ? undefined : `has no meaning: ${String(field)}`,
  };
}

/** Empty: not chosen. */
function chosen<Word extends string>(words: EnumWords<Word, number>): Setting<Word | ""> {
  return {
    otherwise: "",
    toMessage: (word) => (word === "" ? 0 : words.toMessage(word)),
    fromMessage: (field) => words.fromMessage(Number(field)),
    problem: (field) =>
      field === 0 || words.fromMessage(Number(field)) !== undefined ? undefined : `has no meaning: ${String(field)}`,
  };
}

/** Empty: not chosen. */
function text(problem: (text: string) => string | undefined = () => undefined): Setting<string> {
  return {
    otherwise: "",
    toMessage: (value) => value,
    fromMessage: (field) => (typeof field === "string" && field !== "" ? field : undefined),
    problem: (field) => (typeof field === "string" && field !== "" ? problem(field) : undefined),
  };
}

/** 0: not chosen. */
function count(otherwise: number, most: number): Setting<number> {
  return {
    otherwise,
    toMessage: (value) => value,
    fromMessage: (field) => Number(field ?? 0) || undefined,
    problem: (field) => (Number(field) >= 0 && Number(field) <= most ? undefined : `must be between 0 and ${most}`),
  };
}

/** 0 takes a limit away; left out, it stays. */
function limit(toMessage: (value: number) => number | bigint): Setting<number> {
  return {
    otherwise: 0,
    toMessage,
    fromMessage: (field) => (field === undefined ? undefined : Number(field)),
    problem: (field) =>
      field === undefined || (Number(field) >= 0 && Number(field) <= Number.MAX_SAFE_INTEGER)
        ? undefined
        : "cannot be negative or beyond 2^53",
  };
}

/** Left out, it stays. */
function flag(): Setting<boolean> {
  return {
    otherwise: false,
    toMessage: (value) => value,
    fromMessage: (field) => (typeof field === "boolean" ? field : undefined),
    problem: () => undefined,
  };
}

function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:"))
    return `must be an http or https URL${!text.includes("://") && URL.canParse(`http://${text}`) ? `, e.g. http://${text}` : ""}`;
  if (url.username === "" && url.password === "") return undefined;
  return "must not hold credentials; keys come from the environment";
}

/** One value a row, without those that are undefined. */
function collect<Collected>(value: (name: FieldName, row: Setting<unknown>) => unknown): Collected {
  const names = Object.keys(rows).filter((name): name is FieldName => Object.hasOwn(rows, name));
  const found = names.map((name) => [name, value(name, rows[name])]).filter(([, each]) => each !== undefined);
  const collected: unknown = Object.fromEntries(found);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Each row gives what its field is; the compiler cannot follow that.
  return collected as Collected;
}

/** A field's name as people read it, e.g. `base URL`. */
function settingWords(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(/\burl\b/, "URL");
}
