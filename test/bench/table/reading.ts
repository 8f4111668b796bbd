/** What a reading is held against. */
export type Target =
  /** Figure divided by floor is at most this. */
  | { readonly type: "ratio"; readonly most: number }
  | { readonly type: "most"; readonly value: number }
  | { readonly type: "least"; readonly value: number }
  /** Told for orientation only. */
  | { readonly type: "none" };

/** One line of the table. */
export interface Reading {
  readonly name: string;
  readonly unit: "s" | "ms" | "us" | "/s" | "MiB" | "x";
  /** The same work done barely, in the same run. */
  readonly floor?: number;
  readonly figure: number;
  /** Milliseconds of processor time that a call took, in all processes of the one and of the other: no other work's doing. */
  readonly processor?: { readonly floor: number; readonly figure: number };
  readonly target: Target;
}

/** undefined when there is no target, or nothing could be measured on this system. */
export function isMet({ floor, figure, target }: Reading): boolean | undefined {
  if (Number.isNaN(figure)) return undefined;
  switch (target.type) {
    case "ratio":
      return floor === undefined || Number.isNaN(floor) ? undefined : figure / floor <= target.most;
    case "most":
      return figure <= target.value;
    case "least":
      return figure >= target.value;
    case "none":
      return undefined;
  }
}
