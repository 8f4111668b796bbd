import { expandedScope } from "@gennai/governance/intents/expand-scope";
import type { IgnoredPaths } from "@gennai/governance/intents/ignored-paths";
import type { Intent } from "@gennai/governance/intents/intent";
import { describeIntentProblem } from "@gennai/governance/intents/intent-problem";
import { citeIntentMessage, type IntentRules, selectIntentHint } from "@gennai/governance/intents/intents-policy";
import { intentsRefusal } from "@gennai/governance/limits/laid-down";
import { type Limits, noLimits } from "@gennai/governance/limits/limits";
import { ToolFailure } from "@gennai/governance/tool-error";
import { refuseManaged } from "@gennai/machine/managed-refusal";
import { decodeText, encodeText } from "@gennai/machine/workspace/files/text-file";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { sha256Hex } from "@gennai/protocol/digest";
import type { IntentsMode } from "@gennai/protocol/model/governance/intents-mode";
import pLimit from "p-limit";
import { formatIntents, IntentsFormatError } from "./format-intents.ts";
import {
  fileStamp,
  intentIgnoreFile,
  intentsFile,
  maxIntentsBytes,
  readIntentIgnore,
  readIntentsFile,
} from "./intents-file.ts";
import { type IntentsSetting, IntentsSettingFile } from "./intents-setting.ts";

export interface IntentsStatus {
  readonly mode: IntentsMode;
  /** True when changes need an intent. */
  readonly on: boolean;
  /** Why it is on or off, in one sentence. */
  readonly why: string;
  readonly intents: readonly Intent[];
  /** SHA-256 of the text the intents were read from; empty without a file. */
  readonly sha256: string;
  /** Whether a user accepted this exact text. In `required` mode, nothing can be selected before. */
  readonly accepted: boolean;
  /** Problems with the files: file, line, what to do. */
  readonly problems: readonly string[];
}

/** Records that a file with this SHA-256 is accepted. */
type Recorded = (sha256: string) => Promise<void>;

interface ReadIntents {
  /** Of the file that was read, see `fileStamp`. */
  readonly stamp: string;
  readonly intents: readonly Intent[];
  readonly sha256: string;
  readonly problems: readonly string[];
}

/**
 * The intents of one workspace. Each call checks whether the files changed, and only then reads them again. While the intents
 * file is invalid, the earlier intents stay, but no more can be selected.
 */
export class IntentsService {
  /** Relative to the workspace. */
  readonly file = intentsFile;
  readonly #workspace: Workspace;
  readonly #setting: IntentsSettingFile;
  readonly #defaultMode: IntentsMode;
  #limits: Limits = noLimits;
  #file: ReadIntents | undefined;
  #ignored: { readonly stamp: string; readonly paths: IgnoredPaths } | undefined;
  /** Writes of this process go one after the other. */
  readonly #inOrder = pLimit(1);

  private constructor(workspace: Workspace, stateDir: string, defaultMode: IntentsMode) {
    this.#workspace = workspace;
    this.#setting = new IntentsSettingFile(stateDir, workspace.place);
    this.#defaultMode = defaultMode;
  }

  /**
   * Reads nothing yet, and need not be closed.
   * @param options.defaultMode if the user chose none for this workspace: the profile's
   */
  static open(options: {
    readonly workspace: Workspace;
    readonly stateDir: string;
    readonly defaultMode?: IntentsMode;
  }): IntentsService {
    return new IntentsService(options.workspace, options.stateDir, options.defaultMode ?? "auto");
  }

  /** Limits hold from now on; they may require intents. */
  lay(limits: Limits): this {
    this.#limits = limits;
    return this;
  }

  async status(): Promise<IntentsStatus> {
    const setting = await this.#setting.read();
    const required = intentsRefusal(this.#limits);
    const mode = required === undefined ? (setting.mode ?? this.#defaultMode) : "required";
    const { stamp, intents, sha256, problems } = await this.#readFile();
    const accepted = sha256 !== "" && sha256 === setting.accepted;
    const there = stamp !== "missing";
    const { on, why } = await this.#decide(mode, there, setting);
    const ignored = await this.#readIgnored();
    const missing =
      on && !there
        ? [
            `${intentsFile}: is missing, so no intent can be selected; restore it, make one (gennai intents init), or turn intents off`,
          ]
        : [];
    const pending =
      mode === "required" && there && !accepted && sha256 !== ""
        ? [`${intentsFile}: its present text is not accepted, so no intent can be selected; read it, and accept it`]
        : [];
    const broken = ignored.problem === "" ? [] : [`${ignored.problem}; until then nothing may be edited`];
    return { mode, on, why, intents, sha256, accepted, problems: [...missing, ...pending, ...problems, ...broken] };
  }

  /**
   * What the policy needs for a call.
   * @param activeId of the session's intent; it is not active if it was finished or renamed since
   */
  async rules(activeId: string | undefined): Promise<IntentRules> {
    const { on, mode, intents, accepted } = await this.status();
    // In `required` mode, intents grant permission: only a text that the user accepted may do so.
    const selectable = mode === "required" && !accepted ? [] : intents.filter((intent) => intent.selectable);
    const ignored = await this.#readIgnored();
    return {
      on,
      active: selectable.find(({ id }) => id === activeId),
      selectable,
      waitsForAcceptance: selectable.length === 0 && intents.some((intent) => intent.selectable),
      ignored: mode === "off" ? () => false : (path) => ignored.has(path),
    };
  }

  /** The intent with this id. Throws `ToolFailure` `invalid_intent` if it does not exist or cannot be selected. */
  async selectable(id: string | undefined): Promise<Intent> {
    const rules = await this.rules(id?.trim());
    const { selectable, active } = rules;
    if (active !== undefined) return active;
    throw new ToolFailure("invalid_intent", citeIntentMessage, {
      failureClass: "permission_denied",
      hint: selectIntentHint(rules),
      retryable: selectable.length > 0,
    });
  }

  /**
   * Adds paths to an intent's scope and writes the file in canonical form. Only after a user agreed. Throws `ToolFailure`:
   * `invalid_intent`, `invalid_scope`, `intents_unreadable`, or why it cannot be written.
   */
  async expandScope(id: string, paths: readonly string[]): Promise<Intent> {
    return this.#inOrder(() => this.#expandScope(id, paths));
  }

  /**
   * Creates the file; false if it exists. Throws `ToolFailure` if it cannot be written.
   * @param record see `accept`
   */
  async create(text: string, record: Recorded): Promise<boolean> {
    const path = await this.#writablePath();
    if ((await this.#workspace.stat(path)) !== undefined) return false;
    await this.#workspace.apply([{ operation: "create", path, bytes: encodeText(text, { bom: false }) }]);
    await record(sha256Hex(text));
    await this.#accept(sha256Hex(text));
    return true;
  }

  /**
   * A user accepted the file; any change ends that. Throws `ToolFailure` `intents_unreadable` if it is missing or cannot be
   * read, and `stale_file` if it has changed.
   *
   * @param options.record gets the SHA-256 of the text before it is accepted: if it rejects, nothing is accepted
   * @param options.seen SHA-256 of what the user saw; undefined: the current text
   */
  async accept({ record, seen }: { readonly record: Recorded; readonly seen?: string }): Promise<IntentsStatus> {
    const read = await readIntentsFile(this.#workspace.controlRoot);
    if (read.type === "missing") throw unreadable(`There is no ${intentsFile}.`);
    if (read.type === "broken") throw unreadable(read.problem);
    if (!read.parsed.readable)
      throw unreadable(`${intentsFile} is broken: ${read.parsed.problems.map(describeIntentProblem).join(" ")}`);
    if (seen !== undefined && seen !== read.sha256) {
      throw new ToolFailure("stale_file", `${intentsFile} was changed after it was shown; read it again.`);
    }
    await record(read.sha256);
    await this.#accept(read.sha256);
    return this.status();
  }

  /**
   * The user's choice for this workspace; also forgets that an intents file ever existed. Throws `ManagedRefusal`.
   * @param record is called before
   */
  async setMode(mode: IntentsMode, record: () => Promise<void> = async () => undefined): Promise<void> {
    if (mode !== "required") refuseManaged(intentsRefusal(this.#limits));
    // A switch that cannot be recorded is not thrown.
    await record();
    const { accepted } = await this.#setting.read();
    await this.#setting.write({ mode, seen: false, accepted });
  }

  async #accept(sha256: string): Promise<void> {
    await this.#setting.write({ ...(await this.#setting.read()), accepted: sha256 });
  }

  async #decide(
    mode: IntentsMode,
    there: boolean,
    setting: IntentsSetting,
  ): Promise<{ readonly on: boolean; readonly why: string }> {
    switch (mode) {
      case "off":
        return { on: false, why: "A person turned intents off for this workspace." };
      case "required":
        return { on: true, why: intentsRefusal(this.#limits) ?? "Every change needs one." };
      case "auto":
        if (there && !setting.seen) await this.#setting.write({ ...setting, seen: true });
        if (there) return { on: true, why: `The workspace has ${intentsFile}.` };
        return setting.seen
          ? { on: true, why: `The workspace had ${intentsFile}; it was deleted, and nobody turned intents off.` }
          : { on: false, why: `The workspace has no ${intentsFile}.` };
    }
  }

  async #readFile(): Promise<ReadIntents> {
    const stamp = fileStamp(this.#workspace.controlRoot, intentsFile);
    const known = this.#file;
    if (known?.stamp === stamp) return known;
    const read = await readIntentsFile(this.#workspace.controlRoot);
    const kept = (problem: readonly string[]) => {
      const before = known?.intents ?? [];
      const stays = before.length === 0 ? "No intent can be selected." : "The intents read before stay in force.";
      return {
        stamp,
        intents: before,
        sha256: known?.sha256 ?? "",
        problems: [...problem, `${intentsFile}: is broken. ${stays}`],
      };
    };
    // Read after the stamp was taken: if the file changes in between, the next check sees another stamp.
    switch (read.type) {
      case "missing":
        this.#file = { stamp: "missing", intents: [], sha256: "", problems: [] };
        break;
      case "broken":
        this.#file = kept([read.problem]);
        break;
      case "read": {
        const problems = read.parsed.problems.map(describeIntentProblem);
        const { intents, readable } = read.parsed;
        this.#file = readable ? { stamp, intents, sha256: read.sha256, problems } : kept(problems);
        break;
      }
    }
    return this.#file;
  }

  async #readIgnored(): Promise<IgnoredPaths> {
    const stamp = fileStamp(this.#workspace.controlRoot, intentIgnoreFile);
    if (this.#ignored?.stamp !== stamp)
      this.#ignored = { stamp, paths: await readIntentIgnore(this.#workspace.controlRoot) };
    return this.#ignored.paths;
  }

  async #expandScope(id: string, paths: readonly string[]): Promise<Intent> {
    const intent = await this.selectable(id);
    const expansion = expandedScope(intent, paths);
    if (expansion.type === "refused") throw invalidScope(expansion.why);
    const path = await this.#writablePath();
    const before = await this.#workspace.read(path, { maxBytes: maxIntentsBytes });
    const decoded = decodeText(before.bytes);
    if (decoded === undefined) throw unreadable(`${intentsFile} is not UTF-8 text.`);
    let text: string;
    try {
      text = formatIntents(decoded.text, new Map([[intent.id, expansion.added]]));
    } catch (error) {
      if (error instanceof IntentsFormatError) throw unreadable(error.message, error);
      throw error;
    }
    const wasAccepted = (await this.#setting.read()).accepted === sha256Hex(decoded.text);
    await this.#workspace.apply([
      { operation: "update", path, bytes: encodeText(text, { bom: decoded.bom }), baseSha256: before.sha256 },
    ]);
    // The user agreed to the addition, and had accepted the rest.
    if (wasAccepted) await this.#accept(sha256Hex(text));
    return this.selectable(id);
  }

  /** The file's fixed path: never written elsewhere, whatever links say. */
  async #writablePath(): ReturnType<Workspace["resolve"]> {
    const path = await this.#workspace.resolve(intentsFile);
    if (path.inside && path.relative === intentsFile) return path;
    throw unreadable(`${intentsFile} is a link and is not written through it; make it a plain file.`);
  }
}

export function invalidScope(why: string): ToolFailure {
  return new ToolFailure("invalid_scope", why, {
    hint: "Ask for paths or globs relative to the workspace, e.g. docs/**.",
  });
}

function unreadable(message: string, cause?: unknown): ToolFailure {
  return new ToolFailure("intents_unreadable", message, { hint: "Ask the user to correct the file.", cause });
}
