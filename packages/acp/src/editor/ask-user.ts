import {
  type ElicitationPropertySchema,
  methods,
  type PermissionOption,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import {
  maxAnswerText,
  type UserAnswer,
  type UserQuestion,
  type UserReply,
} from "@gennai/protocol/model/session/user-question";
import * as z from "zod";
import type { AcpEditorOptions } from "./acp-editor.ts";
import { unlessWithdrawn } from "./withdrawn-request.ts";

const leftToModel: UserAnswer = { chosen: [], text: "" };

/** Puts questions of the model to the person: as a form where the editor has forms, else each as a choice. */
export function askUser(
  questions: readonly UserQuestion[],
  signal: AbortSignal,
  options: AcpEditorOptions,
): Promise<UserReply> {
  const { form } = options.capabilities.elicitation ?? {};
  return form !== undefined && form !== null
    ? askByForm(questions, signal, options)
    : askByChoices(questions, signal, options);
}

async function askByForm(
  questions: readonly UserQuestion[],
  signal: AbortSignal,
  { client, sessionId }: AcpEditorOptions,
): Promise<UserReply> {
  const answer = await unlessWithdrawn(
    client.request(
      methods.client.elicitation.create,
      {
        mode: "form",
        sessionId: sessionId(),
        message: "The model asks you. Your answer is information for it, and permits nothing.",
        requestedSchema: { type: "object", properties: formFields(questions) },
      },
      { cancellationSignal: signal },
    ),
    signal,
  );
  if (answer.action === "decline") return { end: "answered", answers: questions.map(() => leftToModel) };
  const content = z.record(z.string(), z.unknown()).safeParse("content" in answer ? answer.content : undefined);
  if (answer.action !== "accept" || !content.success) return { end: "cancelled" };
  return formReply(questions, content.data);
}

/** A field for the choice of each question, and one for own words. */
export function formFields(questions: readonly UserQuestion[]): Record<string, ElicitationPropertySchema> {
  return Object.fromEntries(
    questions.flatMap(({ question, header, options, multiple }, index): [string, ElicitationPropertySchema][] => {
      const title = spelledOut(header === "" ? `Question ${index + 1}` : header);
      const about = { title, description: spelledOut(question) };
      const ownWords = { type: "string" as const, maxLength: maxAnswerText };
      if (options.length === 0) return [[`${index}.text`, { ...about, ...ownWords }]];
      const choices = options.map(({ label, description }, place) => ({
        const: `${place}`,
        title: spelledOut(label),
        ...(description === "" ? {} : { description: spelledOut(description) }),
      }));
      return [
        [
          `${index}`,
          multiple
            ? { type: "array", ...about, items: { anyOf: choices } }
            : { type: "string", ...about, oneOf: choices },
        ],
        [`${index}.text`, { title: `${title}: in your own words`, ...ownWords }],
      ];
    }),
  );
}

/** @param content as the editor gave it: anything but an offered choice or a text is not an answer */
export function formReply(questions: readonly UserQuestion[], content: Readonly<Record<string, unknown>>): UserReply {
  const answers = questions.map(({ options, multiple }, index): UserAnswer => {
    const given = content[`${index}`];
    const places = (Array.isArray(given) ? given : [given]).map((value) =>
      /^\d+$/.test(`${value}`) ? Number(value) : -1,
    );
    const chosen = [...new Set(places)].filter((place) => place >= 0 && place < options.length);
    const text = content[`${index}.text`];
    return {
      chosen: multiple ? chosen : chosen.slice(0, 1),
      text: typeof text === "string" ? text.trim().slice(0, maxAnswerText) : "",
    };
  });
  return { end: "answered", answers };
}

/** One after the other. What has nothing to choose from cannot be asked so: there is nobody then. */
async function askByChoices(
  questions: readonly UserQuestion[],
  signal: AbortSignal,
  { client, sessionId }: AcpEditorOptions,
): Promise<UserReply> {
  if (questions.some(({ options }) => options.length === 0)) return { end: "nobody" };
  const answers: UserAnswer[] = [];
  for (const question of questions) {
    const toolCallId = `question-${crypto.randomUUID()}`;
    const { outcome } = await unlessWithdrawn(
      client.request(
        methods.client.session.requestPermission,
        {
          sessionId: sessionId(),
          toolCall: {
            toolCallId,
            title: `The model asks: ${spelledOut(question.question)}`,
            kind: "other",
            status: "pending",
            content: choiceContent(question),
          },
          options: choiceOptions(question),
        },
        { cancellationSignal: signal },
      ),
      signal,
    );
    const done = { sessionUpdate: "tool_call_update", toolCallId, status: "completed" } as const;
    await client.notify(methods.client.session.update, { sessionId: sessionId(), update: done });
    if (outcome.outcome !== "selected") return { end: "cancelled" };
    const place = question.options.findIndex((_option, index) => `${index}` === outcome.optionId);
    answers.push(place < 0 ? leftToModel : { chosen: [place], text: "" });
  }
  return { end: "answered", answers };
}

function choiceOptions({ options }: UserQuestion): PermissionOption[] {
  return [
    ...options.map(({ label }, place) => ({
      optionId: `${place}`,
      name: spelledOut(label),
      kind: "allow_once" as const,
    })),
    { optionId: "model", name: "Leave it to the model", kind: "reject_once" },
  ];
}

function choiceContent({ options, multiple }: UserQuestion): ToolCallContent[] {
  const lines = [
    "Your answer is information for the model, and permits nothing.",
    ...(multiple ? ["Several may apply; this editor lets you choose one."] : []),
    ...options.flatMap(({ label, description }) =>
      description === "" ? [] : [`${spelledOut(label)}: ${spelledOut(description)}`],
    ),
  ];
  return [{ type: "content", content: { type: "text", text: lines.join("\n\n") } }];
}
