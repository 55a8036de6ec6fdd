// Schemas for hostile lists and objects that check the size first: zod would make an issue for each item. Pure.
import * as z from 'zod'

/** A list of at most `most` items. A longer list gives one issue, without a check of its items. */
export function boundedList<T extends z.ZodType>(item: T, most: number) {
  return z.array(z.unknown()).max(most, `more than ${most} items`).pipe(z.array(item))
}

/** An object of at most `most` keys; a larger one gives one issue, and no check of values. `what` names the keys. */
export function boundedRecord<T extends z.ZodType>(value: T, most: number, what = 'keys') {
  return z
    .unknown()
    .refine((given) => Object.keys(given ?? {}).length <= most, `more than ${most} ${what}`)
    .pipe(z.record(z.string(), value))
}
