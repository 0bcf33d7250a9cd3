/** The error of parts that cannot be joined. */
import { MetainfoError } from './errors.ts';
import { shareClass } from './shared.ts';

/** Parts of a plan are missing (`ERR_PART_MISSING`), or damaged, foreign or contradictory (`ERR_PART`). */
export class PartError extends MetainfoError {
  override readonly name = 'PartError';
  /** The indexes of all such parts, in order. */
  readonly indexes: readonly number[];

  /** Makes the error of some parts. */
  constructor(code: 'ERR_PART' | 'ERR_PART_MISSING', message: string, indexes: readonly number[]) {
    super(code, message);
    this.indexes = indexes;
  }
}
shareClass(PartError, 'PartError');

/** The most indexes that a message lists. */
const MAX_LISTED = 10;

/** Indexes for a message. */
export function listed(indexes: readonly number[]): string {
  const more = indexes.length > MAX_LISTED ? ` and ${indexes.length - MAX_LISTED} more` : '';
  return `${indexes.slice(0, MAX_LISTED).join(', ')}${more}`;
}
