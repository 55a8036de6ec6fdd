// Lists and objects of hostile JSON, counted before their items are checked: zod checks every item first, and makes an issue of each wrong one.
import * as z from 'zod'

/** A list of at most `most` items. One that is longer is one issue, and no item of it is looked at. */
export function boundedList<T extends z.ZodType>(item: T, most: number) {
  return z.array(z.unknown()).max(most, `more than ${most} items`).pipe(z.array(item))
}

/** An object of at most `most` keys. One that has more is one issue, and no value of it is looked at. `what` names the keys in it. */
export function boundedRecord<T extends z.ZodType>(value: T, most: number, what = 'keys') {
  return z
    .unknown()
    .refine((given) => Object.keys(given ?? {}).length <= most, `more than ${most} ${what}`)
    .pipe(z.record(z.string(), value))
}
