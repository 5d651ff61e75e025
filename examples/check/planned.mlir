// What a static memory planner leaves of a function: one arena, and views at constant offsets.
func.func @main(%x: memref<16x16xf32>, %y: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1024 = arith.constant 1024 : index
  %c2048 = arith.constant 2048 : index
  %zero = arith.constant 0.0 : f32
  %arena = memref.alloc() {alignment = 64 : i64} : memref<3072xi8>
  %a = memref.view %arena[%c0][] : memref<3072xi8> to memref<16x16xf32>
  %b = memref.view %arena[%c1024][] : memref<3072xi8> to memref<16x16xf32>
  %c = memref.view %arena[%c2048][] : memref<3072xi8> to memref<16x16xf32>
  %d = memref.view %arena[%c1024][] : memref<3072xi8> to memref<16x16xf32>
  linalg.fill ins(%zero : f32) outs(%a : memref<16x16xf32>)
  linalg.matmul ins(%x, %x : memref<16x16xf32>, memref<16x16xf32>) outs(%a : memref<16x16xf32>)
  linalg.exp ins(%a : memref<16x16xf32>) outs(%b : memref<16x16xf32>)
  linalg.add ins(%a, %b : memref<16x16xf32>, memref<16x16xf32>) outs(%c : memref<16x16xf32>)
  linalg.tanh ins(%c : memref<16x16xf32>) outs(%d : memref<16x16xf32>)
  linalg.mul ins(%d, %a : memref<16x16xf32>, memref<16x16xf32>) outs(%y : memref<16x16xf32>)
  memref.dealloc %arena : memref<3072xi8>
  return
}
