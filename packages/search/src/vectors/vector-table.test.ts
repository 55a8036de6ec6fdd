import { expect, it } from 'vitest'
import { normalize, VectorTable } from './vector-table.ts'

it('a vector table keeps its order as it grows, and adds and multiplies its rows', () => {
  const table = new VectorTable(3)
  for (let row = 0; row < 200; row += 1) expect(table.push(new Float32Array([row, 1, -row]))).toBe(row)
  const sum = new Float32Array([1, 1, 1])
  table.addTo(sum, 150)
  table.addTo(sum, -1)
  expect([...sum]).toEqual([151, 2, -149])
  const products = table.products(new Float32Array([1, 2, 2]))
  expect(products).toHaveLength(200)
  expect([products[0], products[1], products[2], products[3]]).toEqual([2, 1, 0, 0])
})

it('an empty vector has no direction', () => {
  expect(normalize(new Float32Array(2))).toBe(false)
  const vector = new Float32Array([3, 4])
  expect(normalize(vector)).toBe(true)
  expect(vector[0]).toBeCloseTo(0.6)
})
