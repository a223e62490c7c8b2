/** What a fleet's workers and the bench that starts them know of each other. */

/** How many fetches there were, and how many of them found nothing. */
export interface Fetches {
  all: number;
  empty: number;
}

/** How many places each has. */
export const places = 8;
