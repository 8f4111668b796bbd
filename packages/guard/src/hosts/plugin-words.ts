import * as z from "zod";
import {
  type HostAnswer,
  type HostCall,
  type HostEvent,
  type HostVerdict,
  probeSession,
  UnreadableHookInput,
} from "./guarded-host.ts";

/**
 * Input from our own plugin, for agents whose hooks are functions in a plugin: the agent's names and arguments, in an envelope
 * common to all of them.
 */
const id = z.string().min(1).max(200);
const args = z.record(z.string(), z.unknown());
const pluginWords = z.discriminatedUnion("event", [
  z.looseObject({
    event: z.literal("before"),
    session: id,
    call: id,
    directory: z.string().min(1).max(4096),
    tool: id,
    args,
    /** Whether its user is there to be asked. */
    asks: z.boolean(),
  }),
  z.looseObject({
    event: z.literal("after"),
    session: id,
    call: id,
    failed: z.boolean(),
    message: z.string(),
    exitCode: z.int().optional(),
    /** What ran; absent if the agent does not report it. */
    tool: id.optional(),
    args: args.optional(),
  }),
  z.looseObject({ event: z.literal("idle"), session: id }),
  z.looseObject({ event: z.literal("hello") }),
]);

/** Throws `UnreadableHookInput`. */
export function readPluginWords(
  payload: unknown,
  title: string,
  callOf: (tool: string, args: Readonly<Record<string, unknown>>, directory: string | undefined) => HostCall,
): HostEvent {
  const { success, data, error } = pluginWords.safeParse(payload);
  if (!success) throw new UnreadableHookInput(`This is not a message that ${title} tells: ${z.prettifyError(error)}`);
  switch (data.event) {
    case "before": {
      const { session, call: callId, directory, asks } = data;
      return { type: "before", session, callId, directory, asks, call: callOf(data.tool, data.args, directory) };
    }
    case "after": {
      const { session, call: callId, failed, exitCode } = data;
      const end = {
        failed,
        message: data.message.slice(0, 300),
        ...(exitCode === undefined ? {} : { exitCode }),
      };
      if (data.tool === undefined || data.args === undefined) return { type: "after", session, callId, end };
      return { type: "after", session, callId, end, ran: callOf(data.tool, data.args, undefined) };
    }
    case "idle":
      return { type: "idle", session: data.session };
    case "hello":
      return { type: "other" };
  }
}

/** @see GuardedHost.isAfterCall */
export function isAfterPluginCall(payload: unknown): boolean {
  return z.looseObject({ event: z.enum(["after", "idle", "hello"]) }).safeParse(payload).success;
}

/** How the plugin uses it is the plugin's matter. */
export function pluginAnswer(verdict: HostVerdict): HostAnswer | undefined {
  return verdict.type === "allow" ? undefined : { decision: verdict.type, reason: verdict.reason };
}

/** A call of the gate's tool, with the arguments that determine its effect. */
export function judged(tool: string, given: Readonly<Record<string, unknown>>, readsOnly = false): HostCall {
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  return { type: "judged", tool, args: Object.fromEntries(said), readsOnly };
}

/** What a plugin tells of a call that writes to a file. @see HookPlace.probe */
export function pluginProbe(directory: string, args: HostAnswer): HostAnswer {
  return {
    event: "before",
    session: probeSession,
    call: crypto.randomUUID(),
    directory,
    tool: "write",
    args,
    asks: false,
  };
}
