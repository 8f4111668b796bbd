import { createHash, randomBytes } from "node:crypto";
import { remoteRefusal } from "@gennai/governance/limits/laid-down";
import type { Limits } from "@gennai/governance/limits/limits";
import type { People, Way } from "@gennai/machine/config/people-file";
import type { ServerLog } from "@gennai/machine/server-log";
import { ServiceError } from "@gennai/machine/service-error";
import { errorMessage } from "@gennai/protocol/error-message";
import { showsAll } from "@gennai/protocol/model/governance/question";
import { isAtLeast } from "@gennai/protocol/model/governance/risk";
import { answerPath } from "@gennai/protocol/page-paths";
import type { Elsewhere, OpenQuestion } from "@gennai/sessions/bridge/elsewhere";
import { Allowance } from "../admission/allowance.ts";
import { createToken, digestToken, matchesToken, type TokenDigest } from "../http/token.ts";
import type { PersonPins } from "./person-pins.ts";
import { closedMessage, type OutgoingMessage, questionMessage } from "./question-message.ts";
import { sendMessage, signingSecret } from "./send-message.ts";

/** Wrong PINs after which a link is good no more. */
const mostTries = 5;
/** Messages of an hour; the next one only says so. */
const messagesAnHour = 20;

interface Asked {
  readonly open: OpenQuestion;
  /** Milliseconds since the epoch. */
  readonly expires: number;
  readonly told: { readonly person: string; readonly way: Way }[];
  answer: "yes" | "no" | undefined;
  isOver: boolean;
}

/** One link of one person to one question. Only digests of its secrets are kept. */
interface Link {
  readonly asked: Asked;
  readonly person: string;
  readonly way: Way;
  /** Of its code, until the PIN was right; then of the token of the browser that has it. */
  secret: { readonly kind: "code" | "token"; readonly digest: TokenDigest };
  /** Names the link in the ledger. */
  readonly name: string;
  triesLeft: number;
}

export interface AskedElsewhereOptions {
  readonly people: People;
  readonly pins: PersonPins;
  readonly limits: () => Promise<Limits>;
  readonly log: ServerLog;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly send?: (way: Way, message: OutgoingMessage) => Promise<void>;
}

/**
 * Asks people by messages. Each message has a link to one question, good for one person with their PIN, once, and until the question
 * ends. A link permits to read this question and to answer it, and nothing else. All of it ends with the process.
 */
export class AskedElsewhere implements Elsewhere {
  readonly #options: Required<AskedElsewhereOptions>;
  readonly #messages: Allowance;
  #links: readonly Link[] = [];
  #isQuiet = false;

  constructor(options: AskedElsewhereOptions) {
    this.#options = { now: Date.now, send: sendMessage, ...options };
    this.#messages = new Allowance(messagesAnHour / 3_600, () => performance.now(), messagesAnHour);
  }

  async waits(
    { computed, offeredScopes, diff }: OpenQuestion["question"],
    { attended }: Pick<OpenQuestion, "attended">,
  ): Promise<number | undefined> {
    const { people, limits } = this.#options;
    if (isAtLeast(computed.risk, "high") || (people.most_risk === "low" && computed.risk !== "low")) return undefined;
    if (!offeredScopes.includes("once") || remoteRefusal(await limits()) !== undefined) return undefined;
    // They would say yes to changes that they have not seen.
    if (diff !== undefined && !showsAll(diff)) return undefined;
    return this.#tellsAfterMs(attended) + people.wait_minutes * 60_000;
  }

  ask(open: OpenQuestion): Disposable {
    const { people, now, log } = this.#options;
    const tellsAfterMs = this.#tellsAfterMs(open.attended);
    const waitMs = tellsAfterMs + people.wait_minutes * 60_000;
    const asked: Asked = { open, expires: now() + waitMs, told: [], answer: undefined, isOver: false };
    const tell = (): void =>
      void this.#tell(asked).catch((error: unknown) => log.warn(`Nobody was asked: ${errorMessage(error)}`));
    const timer = setTimeout(tell, tellsAfterMs);
    const end = setTimeout(() => this.#forget(asked), waitMs);
    return {
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        clearTimeout(end);
        asked.isOver = true;
        this.#forget(asked);
        void this.#close(asked);
      },
    };
  }

  /** The token of a browser, for a link's code and its person's PIN; undefined: one of them is wrong. */
  async enter(code: string, pin: string): Promise<string | undefined> {
    const link = this.#found("code", code);
    if (link === undefined) return undefined;
    // Counted before: many tries at once are many.
    link.triesLeft -= 1;
    const isRight = link.triesLeft >= 0 && (await this.#options.pins.proves(link.person, pin));
    if (link.triesLeft <= 0 && !isRight) this.#links = this.#links.filter((each) => each !== link);
    if (!isRight || !this.#links.includes(link) || link.secret.kind !== "code") return undefined;
    const token = createToken();
    link.secret = { kind: "token", digest: digestToken(token) };
    return token;
  }

  /** What a token lets read; undefined when the question is over. */
  question(
    token: string,
  ): (Pick<OpenQuestion, "question" | "requestId" | "workspace"> & { readonly expires: number }) | undefined {
    const link = this.#found("token", token);
    if (link === undefined) return undefined;
    const { question, requestId, workspace } = link.asked.open;
    return { question, requestId, workspace, expires: link.asked.expires };
  }

  /** False if it is not this question's, or over. @property actionSha256 what the person has seen */
  async answer(
    token: string,
    {
      answer,
      reason,
      actionSha256,
    }: { readonly answer: "yes" | "no"; readonly reason: string; readonly actionSha256: string },
  ): Promise<boolean> {
    const link = this.#found("token", token);
    const open = link?.asked.open;
    if (link === undefined || open === undefined || open.question.actionSha256 !== actionSha256) return false;
    // A policy may have come since it was asked.
    if (remoteRefusal(await this.#options.limits()) !== undefined) return false;
    this.#forget(link.asked);
    try {
      await open.answer({ answer, reason }, { person: link.person, way: `${link.way.via} link ${link.name}` });
      link.asked.answer = answer;
      return true;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  }

  #tellsAfterMs(attended: boolean): number {
    return attended ? this.#options.people.after_seconds * 1_000 : 0;
  }

  async #tell(asked: Asked): Promise<void> {
    const { people, limits, log } = this.#options;
    if (remoteRefusal(await limits()) !== undefined) return;
    const sent: string[] = [];
    for (const [person, ways] of Object.entries(people.people)) {
      for (const way of ways) {
        if (asked.isOver || !this.#mayTell()) continue;
        try {
          await this.#send(asked, person, way);
          sent.push(`${person} by ${way.via}`);
        } catch (error) {
          log.warn(`${person} was not told by ${way.via}: ${errorMessage(error)}`);
        }
      }
    }
    if (sent.length > 0 && !asked.isOver) asked.open.tell(`Asked ${sent.join(", ")}.`);
  }

  async #send(asked: Asked, person: string, way: Way): Promise<void> {
    const { people, pins, now, send } = this.#options;
    const { question, maskedStatement, requestId, workspace } = asked.open;
    const code = randomBytes(24).toString("base64url");
    // Without a PIN nobody could enter.
    const hasLink = people.url !== undefined && (await pins.has(person));
    const url = hasLink ? `${people.url?.replace(/\/$/, "")}${answerPath}#${code}` : undefined;
    const { risk, rule } = question.computed;
    const notice = {
      id: requestId,
      person,
      workspace,
      statement: maskedStatement,
      risk,
      rule,
      expires: asked.expires,
      url,
    };
    const message = questionMessage(notice, way, { secret: await signingSecret(way), now: now() });
    const name = createHash("sha256").update(code).digest("hex").slice(0, 16);
    const secret = { kind: "code", digest: digestToken(code) } as const;
    if (asked.isOver) return;
    if (hasLink) this.#links = [...this.#links, { asked, person, way, secret, name, triesLeft: mostTries }];
    await send(way, message);
    asked.told.push({ person, way });
    // It ended meanwhile.
    if (asked.isOver) await this.#close(asked);
  }

  /** False when there were too many in an hour: the first that is not sent is said in the log. */
  #mayTell(): boolean {
    const may = this.#messages.take();
    if (!may && !this.#isQuiet)
      this.#options.log.warn("Many questions wait, so people are told of no more for a while.");
    this.#isQuiet = !may;
    return may;
  }

  /** Each who was told learns it once. */
  async #close({ open, told, answer }: Asked): Promise<void> {
    const { send, now, log } = this.#options;
    for (const { person, way } of told.splice(0)) {
      if (way.via !== "webhook") continue;
      try {
        const secret = await signingSecret(way);
        await send(way, closedMessage(open.requestId, answer ?? "over", { secret, now: now() }));
      } catch (error) {
        log.warn(`${person} was not told by ${way.via}: ${errorMessage(error)}`);
      }
    }
  }

  #forget(asked: Asked): void {
    this.#links = this.#links.filter((link) => link.asked !== asked);
  }

  /** Compares with all links: the time reveals nothing about the position. */
  #found(kind: Link["secret"]["kind"], secret: string): Link | undefined {
    return this.#links.filter((link) => matchesToken(secret, link.secret.digest) && link.secret.kind === kind).at(0);
  }
}
