import { readFile } from "node:fs/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";
import { usageError } from "../../terminal/cli-error.ts";

/** A JSON Schema that an answer must fit, and what it says of one that does not. */
export class AnswerSchema {
  readonly #text: string;
  readonly #schema: z.ZodType;

  private constructor(text: string, schema: z.ZodType) {
    this.#text = text;
    this.#schema = schema;
  }

  /** Rejects with `CliError` for a file that is no JSON Schema. @param file absolute */
  static async read(file: string): Promise<AnswerSchema> {
    try {
      const text = await readFile(file, "utf8");
      return new AnswerSchema(text, z.fromJSONSchema(z.record(z.string(), z.unknown()).parse(JSON.parse(text))));
    } catch (error) {
      throw usageError(
        `--output-schema ${file} cannot be used: ${errorMessage(error)}`,
        'Name a file with one JSON Schema, for example {"type":"object"}.',
      );
    }
  }

  /** The request with what the answer has to be. */
  asked(request: string): string {
    return `${request}\n\nAnswer with one JSON value alone, without other words. It must fit this JSON Schema:\n${this.#text}`;
  }

  /** The request for another answer in place of one that does not fit. */
  askedAgain(problem: string): string {
    return `Your answer does not fit the JSON Schema: ${problem}\nAnswer again with the JSON value alone.`;
  }

  /** The JSON of an answer, also from within a Markdown fence; a problem if it does not fit. */
  read(answer: string): { readonly json: string } | { readonly problem: string } {
    const json = /^\s*```\w*\n([^]*?)\n```\s*$/.exec(answer)?.[1] ?? answer.trim();
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (error) {
      return { problem: errorMessage(error) };
    }
    const parsed = this.#schema.safeParse(value);
    return parsed.success ? { json } : { problem: z.prettifyError(parsed.error) };
  }
}
