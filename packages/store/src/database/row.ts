import type { SQLOutputValue } from "node:sqlite";

export type Row = Record<string, SQLOutputValue>;

/** A column with the type from the schema. Any other type means a damaged database. */
export function integerOf(row: Row, column: string): number {
  const value = row[column];
  if (typeof value !== "number") throw new TypeError(`Column ${column} holds no integer.`);
  return value;
}

export function textOf(row: Row, column: string): string {
  const value = row[column];
  if (typeof value !== "string") throw new TypeError(`Column ${column} holds no text.`);
  return value;
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column];
  if (!(value instanceof Uint8Array)) throw new TypeError(`Column ${column} holds no bytes.`);
  return value;
}
