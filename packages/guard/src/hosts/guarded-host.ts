/**
 * Another agent whose tool calls the gate judges: how its hook's input is read, and how it is answered. One file each. The
 * agent runs its calls itself, so only its hook's input is known.
 */
export interface GuardedHost {
  /** As commands and records call it, e.g. `claude-code`. */
  readonly id: string;
  /** For people, e.g. `Claude Code`. */
  readonly title: string;
  /** Whether its hook can make it ask its user. If not, questions become denials. */
  readonly asks: boolean;
  /** Its calls have no ids, so the content is used: two calls may be equal, and a call that was changed gets another id. */
  readonly namesCalls?: false;
  readonly hook: HookPlace;
  /** Parses the hook's input. Throws `UnreadableHookInput` for input that the host does not send. */
  read(payload: unknown): HostEvent;
  /** Whether it clearly reports something that needs no permission. False for unreadable input. */
  isAfterCall(payload: unknown): boolean;
  /** The hook's answer; undefined: none, and the agent behaves as without a hook. @param event without it: a call */
  answer(verdict: HostVerdict, event?: HostEvent): HostAnswer | undefined;
}

/** The agent's session in the input of a trial: such a call is always refused, and not recorded. */
export const probeSession = "gennai-probe";

/** Where our hook of an agent stands, and in what form. */
export interface HookPlace {
  readonly form: HookForm;
  /** Input of a call that writes to a file, absolute: for trying whether the hook refuses what it must. */
  probe(file: string, workspace: string): HostAnswer;
  /** True if the agent itself reports in which project it works. */
  readonly saysProject?: true;
  /** Name of its program on the search path. */
  readonly program: string;
  /** Major versions of it with which the hook was tried. Any other counts as unguarded. */
  readonly majors: readonly number[];
  /** The first version that knows all events; an older one takes none of the hooks. */
  readonly since?: string;
  /** Absolute paths of its hook files for a project: ours is written to the first; the others are only examined. */
  projectFiles(workspace: string): readonly [string, ...string[]];
  /** Where its user's own configuration is. */
  home(environment: NodeJS.ProcessEnv): string;
  /** Variables of its environment that make it start no hook. */
  readonly switches?: readonly string[];
  /** Its file of hooks for all projects, in that directory. */
  readonly userFile: string;
  /** Its file for administrators of Linux, and its text for an object of hooks by events: no other hooks run beside them. */
  readonly managed?: { readonly file: string; text(settings: unknown): string };
  /** What its user must do after an installation into a project. */
  readonly nextStep?: string;
  /** What its user must do after an installation into the user's own settings. */
  readonly nextStepOfUser?: string;
  /** What it cannot do, or does on its own, as tried with the real program. Shown by `status` and in the guide. */
  readonly limits: readonly string[];
  /** Further limits of a hook that does not stand in `managed`. */
  readonly limitsUnmanaged?: readonly string[];
}

export type HookForm =
  /** Shell commands in the agent's settings. */
  | {
      readonly type: "settings";
      readonly events: readonly string[];
      /** The events before something happens, whose hooks alone can refuse it; the first is that of calls. */
      readonly before: readonly [string, ...string[]];
      /** What the shell does there if the hook failed; without it, exit 2. */
      readonly refusal?: string;
      /** A second in the agent's own unit; without it 1. */
      readonly second?: number;
      /** Further fields of the hook of an event. */
      readonly more?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
      /** Hooks are directly in the list of an event. */
      readonly flat?: true;
    }
  /** A file that the agent loads: JavaScript that asks by `tell(payload, project)`. */
  | { readonly type: "plugin"; readonly source: string };

/** A JSON object. */
export interface HostAnswer {
  [name: string]: JsonValue;
}
type JsonValue = string | number | boolean | null | HostAnswer | JsonValue[];

export type HostEvent =
  | {
      readonly type: "before";
      /** The host's own id of its session. */
      readonly session: string;
      readonly callId: string;
      /** The host's working directory, absolute. */
      readonly directory: string;
      readonly call: HostCall;
      /** Whether its user can be asked about this call, if that varies. */
      readonly asks?: boolean;
    }
  | {
      readonly type: "after";
      readonly session: string;
      readonly callId: string;
      readonly end: HostCallEnd;
      /** What ran in the end, if the host reports it; without the working directory. */
      readonly ran?: HostCall;
    }
  /** The host runs nothing in this session: unreported calls did not run, or will never be reported. */
  | { readonly type: "idle"; readonly session: string }
  /** Not relevant to the gate. */
  | { readonly type: "other" };

/** As a tool: the host is about to take settings that changed while it runs. `{path}` */
export const settingsChange = "ConfigChange";

/** A call in terms of the gate's own tools. */
export type HostCall =
  /** Only the host's own state, e.g. its list of tasks: nothing outside of it is reached. */
  | { readonly type: "own" }
  | {
      readonly type: "judged";
      /** The gate's equivalent tool, or the host's own name for any other tool. */
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** It changes nothing, whatever its arguments. */
      readonly readsOnly: boolean;
      /** The server of an external tool. */
      readonly server?: string;
    };

export interface HostCallEnd {
  readonly failed: boolean;
  /** The host's message about a failure; short. */
  readonly message: string;
  /** Exit code of a command, if the host reports it. */
  readonly exitCode?: number;
}

export type HostVerdict =
  | { readonly type: "allow" }
  /** The host asks its own user. */
  | { readonly type: "ask"; readonly reason: string }
  | { readonly type: "deny"; readonly reason: string }
  /** The host is to end all its work. @see EmergencyState */
  | { readonly type: "stop"; readonly reason: string; readonly before: boolean };

/** A hook's input that does not read as its host's. */
export class UnreadableHookInput extends Error {
  override readonly name = "UnreadableHookInput";
}

/** Whether a call may continue while no gate can be reached: it changes nothing, whatever its arguments. */
export function changesNothing(event: HostEvent): boolean {
  return event.type !== "before" || event.call.type === "own" || event.call.readsOnly;
}
