export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed";
  readonly priority: "low" | "medium" | "high";
  /** RFC 3339. */
  readonly created: string;
  readonly updated: string;
}
