import { createHash } from "node:crypto";
import * as z from "zod";
import type { Answer } from "./original-client.ts";

// The RinaWarp extension as it was published (0.1.0), by what it does: its schema drops what it does not name, so that it
// never holds a command or a path; its hash lets through only names of the first level; and of an answer it reads the token.

const envelope = z.object({
  kind: z.literal("plan"),
  payload: z.object({
    ...{ id: z.string(), title: z.string(), summary: z.string() },
    risks: z.array(z.object({ level: z.enum(["low", "medium", "high"]), text: z.string() })),
    steps: z.array(
      z.object({
        ...{ id: z.string(), title: z.string(), intent: z.string() },
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

/** With `deep`, another build of it: the same schema, and a hash over everything that it holds. */
export class PublishedExtension {
  readonly #baseUrl: string;
  readonly #hash: (plan: object) => string;
  plan: StrippedPlan | undefined;
  approvedHash = "";
  approvalToken = "";

  constructor(baseUrl: string | undefined, hash: (plan: object) => string = publishedPlanHash) {
    this.#baseUrl = baseUrl ?? "http://127.0.0.1:8787";
    this.#hash = hash;
  }

  async planCommand(text: string): Promise<void> {
    const { json } = await this.post("/rina/send", { text, strict: true, context: {} });
    // From the first brace to the last, whatever is between.
    const [found] = /\{.*\}/s.exec(String(json["raw"])) ?? [];
    this.plan = envelope.parse(JSON.parse(found ?? "null")).payload;
  }

  async approve(): Promise<Answer> {
    this.approvedHash = this.#hash(this.plan ?? {});
    const answer = await this.post("/plan/approve", { plan: this.plan, planHash: this.approvedHash });
    const { approvalToken: token } = answer.json;
    this.approvalToken = typeof token === "string" ? token : "";
    return answer;
  }

  execute(): Promise<Answer> {
    return this.post("/plan/execute", this.approved());
  }

  verify(): Promise<Answer> {
    return this.post("/plan/verify", this.approved());
  }

  approved() {
    return { plan: this.plan, planHash: this.approvedHash, approvalToken: this.approvalToken };
  }

  async post(path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.#baseUrl}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  }
}
