import { ServiceError } from "@gennai/machine/service-error";
import { startTestServer, type TestServer, type TestServerOptions } from "@gennai/testkit/test-server";
import type { SessionPlans } from "#plans/session-plans";
import type { Session } from "#session/session";

export const never = { signal: new AbortController().signal };
export const ann = { who: "ann", channel: "authenticated" } as const;

export interface PlanStep {
  readonly id: string;
  readonly actions: readonly Readonly<Record<string, unknown>>[];
  readonly verify?: readonly string[];
  readonly depends_on?: readonly string[];
}

/** A plan in seed 000's words. */
export function seedPlan(steps: readonly PlanStep[], more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    id: "p1",
    title: "Test plan",
    summary: "What it does",
    risks: [],
    steps: steps.map(({ verify = [], ...step }) => ({
      title: `Step ${step.id}`,
      intent: "to test",
      ...step,
      verify: verify.map((command) => ({ type: "command", command })),
    })),
    ...more,
  });
}

export const command = (text: string) => ({ type: "command", command: text });
export const write = (path: string, content: string) => ({ type: "file_write", path, content });
export const patch = (path: string, text: string) => ({ type: "file_patch", path, patch: text });

export interface PlanBench extends AsyncDisposable {
  readonly server: TestServer;
  /** As it is now: another object after a restart. */
  session(): Promise<Session>;
  plans(): SessionPlans;
  submit(text: string): Promise<{ readonly planId: string; readonly digest: string }>;
  /** Submitted, previewed and approved. */
  approved(text: string): Promise<{ readonly planId: string; readonly digest: string; readonly token: string }>;
  /** Approved and run. */
  executed(text: string): ReturnType<SessionPlans["execute"]>;
}

/** A server with one session, and its plans. */
export async function planBench(options: TestServerOptions = {}): Promise<PlanBench> {
  const server = await startTestServer(options);
  const started = await server.running.manager.start(server.running.manager.services.defaultSettings, "");
  const { id } = started;
  const session = () => server.running.manager.get(id);
  const plans = () => server.running.plans;
  const submit = async (text: string) => {
    const { plan, issues } = await plans().submit(await session(), text, { strict: false, contract: false });
    if (plan === undefined) throw new Error(`No plan: ${JSON.stringify(issues)}`);
    return plan;
  };
  const approved = async (text: string) => {
    const { planId, digest } = await submit(text);
    await plans().preview(await session(), planId);
    const { approvalToken } = await plans().approve(await session(), planId, digest, ann);
    return { planId, digest, token: approvalToken };
  };
  return {
    server,
    session,
    plans,
    submit,
    approved,
    async executed(text) {
      const { planId, digest, token } = await approved(text);
      return plans().execute(await session(), planId, digest, token, never);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Why it was refused; `ok` when it was not. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return "ok";
  } catch (error) {
    if (error instanceof ServiceError) return error.reason ?? error.code;
    throw error;
  }
}
