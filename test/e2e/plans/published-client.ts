import { createHash } from "node:crypto";
import * as z from "zod";
import type { Answer } from "./original-client.ts";

// The RinaWarp extension as it was published (0.1.0), by what it does: its schema drops what it does not name, so that it
// never holds a command or a path; its hash lets through only names of the first level; and of an answer it reads the token.
// Whatever is JSON it takes for a success. It fails by what its HTTP library, node-fetch, throws, and shows that.

const envelope = z.object({
  kind: z.literal("plan"),
  payload: z.object({
    id: z.string(),
    title: z.string(),
    summary: z.string(),
    risks: z.array(z.object({ level: z.enum(["low", "medium", "high"]), text: z.string() })),
    steps: z.array(
      z.object({
        id: z.string(),
        title: z.string(),
        intent: z.string(),
        actions: z.array(z.object({ type: z.enum(["command", "file_write", "file_patch"]) })),
        verify: z.array(z.object({ type: z.literal("command"), command: z.string() })),
      }),
    ),
  }),
});

export type StrippedPlan = z.infer<typeof envelope>["payload"];

export function publishedPlanHash(plan: object): string {
  return createHash("sha256")
    .update(JSON.stringify(plan, Object.keys(plan).sort()))
    .digest("hex");
}

export interface PublishedAnswer extends Answer {
  /** What its HTTP library throws for it, when it does. */
  readonly thrown?: string;
}

/** With `deep`, another build of it: the same schema, and a hash over everything that it holds. */
export class PublishedExtension {
  readonly #baseUrl: string;
  readonly #hash: (plan: object) => string;
  plan: StrippedPlan | undefined;
  approvedHash = "";
  approvalToken = "";
  state: "draft" | "preview" | "awaiting_approval" | "executing" | "verifying" | "done" | "failed" = "draft";
  /** What it showed its user, in order. */
  readonly shown: string[] = [];

  constructor(baseUrl: string | undefined, hash: (plan: object) => string = publishedPlanHash) {
    this.#baseUrl = baseUrl ?? "http://127.0.0.1:8787";
    this.#hash = hash;
  }

  async planCommand(text: string): Promise<void> {
    const { json } = await this.post("/rina/send", { text, strict: true, context: {} });
    // From the first brace to the last, whatever is between.
    const [found] = /\{.*\}/s.exec(String(json["raw"])) ?? [];
    this.plan = envelope.parse(JSON.parse(found ?? "null")).payload;
    this.state = "preview";
  }

  /** Its commands one after the other, as a person calls them, each with what it then says. */
  async walk(text: string): Promise<readonly string[]> {
    const { version } = (await this.post("/ping", {})).json;
    this.shown.push(`RinaWarp daemon: reachable (v${String(version)})`);
    await this.planCommand(text);
    this.shown.push(`Plan generated: ${this.plan?.title}`);
    this.state = "awaiting_approval";
    await this.#said("Plan approved and token received.", "Approval failed", () => this.approve());
    if (this.approvalToken === "") return [...this.shown, "Plan not approved"];
    if (!(await this.#said("Plan executed successfully.", "Execution failed", () => this.execute()))) return this.shown;
    await this.#said("Plan verification completed.", "Verification failed", () => this.verify());
    return this.shown;
  }

  async #said(done: string, failed: string, call: () => Promise<PublishedAnswer>): Promise<boolean> {
    const { thrown } = await call();
    this.shown.push(thrown === undefined ? done : `${failed}: ${thrown}`);
    return thrown === undefined;
  }

  async approve(): Promise<PublishedAnswer> {
    this.approvedHash = this.#hash(this.plan ?? {});
    const answer = await this.post("/plan/approve", { plan: this.plan, planHash: this.approvedHash });
    const { approvalToken: token } = answer.json;
    this.approvalToken = typeof token === "string" ? token : "";
    return answer;
  }

  execute(): Promise<PublishedAnswer> {
    return this.post("/plan/execute", this.approved());
  }

  verify(): Promise<PublishedAnswer> {
    return this.post("/plan/verify", this.approved());
  }

  approved() {
    return { plan: this.plan, planHash: this.approvedHash, approvalToken: this.approvalToken };
  }

  async post(path: string, body: unknown): Promise<PublishedAnswer> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "User-Agent": "node-fetch/1.0 (+https://github.com/bitinn/node-fetch)",
      },
      body: JSON.stringify(body),
      redirect: "manual",
    });
    const answer = { status: response.status, json: (await response.json()) as Record<string, unknown> };
    const location = response.headers.get("location");
    if (location === null || URL.canParse(location, this.#baseUrl)) return answer;
    // In its words.
    return { ...answer, thrown: `uri requested responds with an invalid redirect URL: ${location}` };
  }
}
