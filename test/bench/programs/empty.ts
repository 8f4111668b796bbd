// Nothing: what starting Node costs.
export {};
