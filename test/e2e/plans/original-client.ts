import { createHash } from "node:crypto";

// The behaviour of the RinaWarp Brain extension, module by module, as its README describes it: no credential, keys sorted
// with a plain sort, a zod-like check of the envelope, and `ok` as the only sign of success.

/** crypto.ts */
function canonicalStringify(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalStringify).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalStringify(member)}`);
  return `{${members.join(",")}}`;
}

export function planHash(plan: unknown): string {
  return createHash("sha256").update(canonicalStringify(plan)).digest("hex");
}

export interface RinaStep {
  readonly id: string;
  readonly title: string;
  readonly intent: string;
  readonly actions: readonly object[];
  readonly verify: readonly { readonly type: "command"; readonly command: string }[];
}
export interface RinaPlan {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly risks: readonly { readonly level: "low" | "medium" | "high"; readonly text: string }[];
  readonly steps: readonly RinaStep[];
}
export type RinaEnvelope = { readonly kind: "plan"; readonly payload: RinaPlan } | { readonly kind: "chat" | "error" };

/** protocol.ts: the first JSON object in mixed output. */
function extractFirstJsonObject(raw: string): string | undefined {
  const start = raw.indexOf("{");
  let depth = 0;
  let inString = false;
  for (let at = start; at !== -1 && at < raw.length; at += 1) {
    const character = raw[at];
    if (inString && character === "\\") at += 1;
    else if (character === '"') inString = !inString;
    else if (!inString && character === "{") depth += 1;
    else if (!inString && character === "}" && --depth === 0) return raw.slice(start, at + 1);
  }
  return undefined;
}

function validateRinaOutput(raw: string): RinaEnvelope {
  const envelope = JSON.parse(extractFirstJsonObject(raw) ?? "") as RinaEnvelope;
  if (!["plan", "chat", "error"].includes(envelope.kind)) throw new Error("no envelope");
  return envelope;
}

/** http.ts */
async function postJson(baseUrl: string, path: string, body: unknown): Promise<Answer> {
  const response = await fetch(`${baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

export interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

type AppState = "draft" | "preview" | "awaiting_approval" | "executing" | "verifying" | "done" | "failed";

/** extension.ts, with state.ts: the commands a user has, and the authority boundary they go through. */
export class OriginalExtension {
  readonly #baseUrl: string;
  state: AppState = "draft";
  envelope: RinaEnvelope | undefined;
  approvedHash = "";
  approvalToken = "";

  constructor(baseUrl: string | undefined) {
    this.#baseUrl = baseUrl ?? "http://127.0.0.1:8787";
  }

  get plan(): RinaPlan {
    if (this.envelope?.kind !== "plan") throw new Error("There is no plan.");
    return this.envelope.payload;
  }

  ping(): Promise<Answer> {
    return this.post("/ping", {});
  }

  async planCommand(text: string, strict = true): Promise<void> {
    const { json } = await this.post("/rina/send", {
      text,
      strict,
      context: { uri: "file:///a.ts", languageId: "typescript" },
    });
    this.envelope = validateRinaOutput(String(json["raw"]));
    this.state = "preview";
  }

  async approve(): Promise<void> {
    const hash = planHash(this.plan);
    const { json } = await this.post("/plan/approve", { plan: this.plan, planHash: hash });
    if (json["ok"] !== true) throw new Error(String(json["error"]));
    this.approvedHash = hash;
    this.approvalToken = String(json["approvalToken"]);
    this.state = "awaiting_approval";
  }

  /** No command execution unless state == awaiting_approval AND the hash matches AND there is a token. */
  #assertApproved(): void {
    if (this.state !== "awaiting_approval" || planHash(this.plan) !== this.approvedHash || this.approvalToken === "") {
      throw new Error("Not approved.");
    }
  }

  async execute(): Promise<Answer> {
    this.#assertApproved();
    const answer = await this.post("/plan/execute", this.approved());
    this.state = answer.json["ok"] === true ? "verifying" : "failed";
    return answer;
  }

  async verify(): Promise<Answer> {
    const answer = await this.post("/plan/verify", this.approved());
    this.state = answer.json["ok"] === true ? "done" : "failed";
    return answer;
  }

  approved() {
    return { plan: this.plan, planHash: this.approvedHash, approvalToken: this.approvalToken };
  }

  post(path: string, body: unknown): Promise<Answer> {
    return postJson(this.#baseUrl, path, body);
  }
}
