/**
 * Another agent whose tool calls the gate judges: how its hook's words are read, and how it is answered. One file each. It makes its calls
 * by itself, so that only what it tells its hook is known of them.
 */
export interface GuardedHost {
  /** As commands and records call it, e.g. `claude-code`. */
  readonly id: string;
  /** For people, e.g. `Claude Code`. */
  readonly title: string;
  /** Whether its hook can have it ask its user. Where not, what would be asked about is denied. */
  readonly asks: boolean;
  /** It gives its calls no ids, so that these say what it is: two may have the same, and one that was changed since has another. */
  readonly namesCalls?: false;
  /** What its hook was told. Throws `UnreadableHookInput` for input that the host does not send. */
  read(payload: unknown): HostEvent;
  /** Whether it plainly reports something that needs no leave. False for what cannot be read. */
  isAfterCall(payload: unknown): boolean;
  /** What its hook is to answer; undefined: nothing, and the agent goes on as it would by itself. */
  answer(verdict: HostVerdict): HostAnswer | undefined;
}

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
      /** Where the host stands, absolute. */
      readonly directory: string;
      readonly call: HostCall;
      /** Whether its user can be asked about this call, where that is not always the same. */
      readonly asks?: boolean;
    }
  | {
      readonly type: "after";
      readonly session: string;
      readonly callId: string;
      readonly end: HostCallEnd;
      /** What ran in the end, where the host says it; without where it stands. */
      readonly ran?: HostCall;
    }
  /** The host has nothing under way in this session: what it did not report did not run, or nobody will ever say so. */
  | { readonly type: "idle"; readonly session: string }
  /** Nothing that the gate has a say in. */
  | { readonly type: "other" };

/** A call in the words of the gate's own tools. */
export type HostCall =
  /** Only the host's own state, e.g. its list of tasks: nothing outside of it is reached. */
  | { readonly type: "own" }
  | {
      readonly type: "judged";
      /** The gate's tool that does the same, or the host's own name for a tool that is none of these. */
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      /** It changes nothing whatever its arguments are. */
      readonly readsOnly: boolean;
      /** The server of an external tool. */
      readonly server?: string;
    };

export interface HostCallEnd {
  readonly failed: boolean;
  /** What the host said of a failure; short. */
  readonly message: string;
  /** Of a command, where the host says it. */
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

/** Whether a call may go on while no gate can be asked: it changes nothing, whatever it is told. */
export function changesNothing(event: HostEvent): boolean {
  return event.type !== "before" || event.call.type === "own" || event.call.readsOnly;
}
