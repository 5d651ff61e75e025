// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @branches(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view, %arg13: !hal.buffer_view, %arg14: !hal.buffer_view, %arg15: !hal.buffer_view, %arg16: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @branches(%input0: tensor<1x32x32x3xf32>, %input1: tensor<3x3x3x16xf32>, %input2: tensor<1x1x16x8xf32>, %input3: tensor<1x1x8x24xf32>, %input4: tensor<1x1x24x16xf32>, %input5: tensor<1x1x16x4xf32>, %input6: tensor<1x1x4x32xf32>, %input7: tensor<1x1x16x8xf32>, %input8: tensor<3x3x56x32xf32>, %input9: tensor<1x1x32x12xf32>, %input10: tensor<1x1x12x36xf32>, %input11: tensor<1x1x36x24xf32>, %input12: tensor<1x1x32x6xf32>, %input13: tensor<1x1x6x48xf32>, %input14: tensor<1x1x32x12xf32>, %input15: tensor<3x3x84x48xf32>, %input16: tensor<1x1x48x4xf32>) -> (%output0: tensor<1x3x3x4xf32>)"}} {
  %c144 = arith.constant 144 : index
  %c16464 = arith.constant 16464 : index
  %c9408 = arith.constant 9408 : index
  %c1176 = arith.constant 1176 : index
  %c4704 = arith.constant 4704 : index
  %c7056 = arith.constant 7056 : index
  %c2352 = arith.constant 2352 : index
  %c6272 = arith.constant 6272 : index
  %c50400 = arith.constant 50400 : index
  %c28800 = arith.constant 28800 : index
  %c3600 = arith.constant 3600 : index
  %c21600 = arith.constant 21600 : index
  %c7200 = arith.constant 7200 : index
  %c0 = arith.constant 0 : index
  %c14400 = arith.constant 14400 : index
  %c145152 = arith.constant 145152 : index
  %c1152 = arith.constant 1152 : index
  %c3456 = arith.constant 3456 : index
  %c64512 = arith.constant 64512 : index
  %c256 = arith.constant 256 : index
  %c1536 = arith.constant 1536 : index
  %c768 = arith.constant 768 : index
  %c512 = arith.constant 512 : index
  %c1728 = arith.constant 1728 : index
  %c12288 = arith.constant 12288 : index
  %c84 = arith.constant 84 : index
  %c48 = arith.constant 48 : index
  %c6 = arith.constant 6 : index
  %c36 = arith.constant 36 : index
  %c12 = arith.constant 12 : index
  %c56 = arith.constant 56 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c32, %c32, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x32x32x3xf32> in !stream.resource<external>{%c12288}
  %1 = stream.async.cast on(#hal.device.affinity<@__device_0>) %0 : !stream.resource<external>{%c12288} -> !stream.resource<*>{%c12288}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x16xf32> in !stream.resource<external>{%c1728}
  %3 = stream.async.cast on(#hal.device.affinity<@__device_0>) %2 : !stream.resource<external>{%c1728} -> !stream.resource<*>{%c1728}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c1, %c1, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<1x1x16x8xf32> in !stream.resource<external>{%c512}
  %5 = stream.async.cast on(#hal.device.affinity<@__device_0>) %4 : !stream.resource<external>{%c512} -> !stream.resource<*>{%c512}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c1, %c1, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<1x1x8x24xf32> in !stream.resource<external>{%c768}
  %7 = stream.async.cast on(#hal.device.affinity<@__device_0>) %6 : !stream.resource<external>{%c768} -> !stream.resource<*>{%c768}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c1, %c1, %c24, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<1x1x24x16xf32> in !stream.resource<external>{%c1536}
  %9 = stream.async.cast on(#hal.device.affinity<@__device_0>) %8 : !stream.resource<external>{%c1536} -> !stream.resource<*>{%c1536}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c16, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x16x4xf32> in !stream.resource<external>{%c256}
  %11 = stream.async.cast on(#hal.device.affinity<@__device_0>) %10 : !stream.resource<external>{%c256} -> !stream.resource<*>{%c256}
  hal.buffer_view.assert<%arg6 : !hal.buffer_view> message("input6") shape([%c1, %c1, %c4, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %12 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg6 : !hal.buffer_view -> tensor<1x1x4x32xf32> in !stream.resource<external>{%c512}
  %13 = stream.async.cast on(#hal.device.affinity<@__device_0>) %12 : !stream.resource<external>{%c512} -> !stream.resource<*>{%c512}
  hal.buffer_view.assert<%arg7 : !hal.buffer_view> message("input7") shape([%c1, %c1, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %14 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg7 : !hal.buffer_view -> tensor<1x1x16x8xf32> in !stream.resource<external>{%c512}
  %15 = stream.async.cast on(#hal.device.affinity<@__device_0>) %14 : !stream.resource<external>{%c512} -> !stream.resource<*>{%c512}
  hal.buffer_view.assert<%arg8 : !hal.buffer_view> message("input8") shape([%c3, %c3, %c56, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %16 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg8 : !hal.buffer_view -> tensor<3x3x56x32xf32> in !stream.resource<external>{%c64512}
  %17 = stream.async.cast on(#hal.device.affinity<@__device_0>) %16 : !stream.resource<external>{%c64512} -> !stream.resource<*>{%c64512}
  hal.buffer_view.assert<%arg9 : !hal.buffer_view> message("input9") shape([%c1, %c1, %c32, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %18 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg9 : !hal.buffer_view -> tensor<1x1x32x12xf32> in !stream.resource<external>{%c1536}
  %19 = stream.async.cast on(#hal.device.affinity<@__device_0>) %18 : !stream.resource<external>{%c1536} -> !stream.resource<*>{%c1536}
  hal.buffer_view.assert<%arg10 : !hal.buffer_view> message("input10") shape([%c1, %c1, %c12, %c36]) type(%element_type_f32) encoding(%dense_row_major)
  %20 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg10 : !hal.buffer_view -> tensor<1x1x12x36xf32> in !stream.resource<external>{%c1728}
  %21 = stream.async.cast on(#hal.device.affinity<@__device_0>) %20 : !stream.resource<external>{%c1728} -> !stream.resource<*>{%c1728}
  hal.buffer_view.assert<%arg11 : !hal.buffer_view> message("input11") shape([%c1, %c1, %c36, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %22 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg11 : !hal.buffer_view -> tensor<1x1x36x24xf32> in !stream.resource<external>{%c3456}
  %23 = stream.async.cast on(#hal.device.affinity<@__device_0>) %22 : !stream.resource<external>{%c3456} -> !stream.resource<*>{%c3456}
  hal.buffer_view.assert<%arg12 : !hal.buffer_view> message("input12") shape([%c1, %c1, %c32, %c6]) type(%element_type_f32) encoding(%dense_row_major)
  %24 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg12 : !hal.buffer_view -> tensor<1x1x32x6xf32> in !stream.resource<external>{%c768}
  %25 = stream.async.cast on(#hal.device.affinity<@__device_0>) %24 : !stream.resource<external>{%c768} -> !stream.resource<*>{%c768}
  hal.buffer_view.assert<%arg13 : !hal.buffer_view> message("input13") shape([%c1, %c1, %c6, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %26 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg13 : !hal.buffer_view -> tensor<1x1x6x48xf32> in !stream.resource<external>{%c1152}
  %27 = stream.async.cast on(#hal.device.affinity<@__device_0>) %26 : !stream.resource<external>{%c1152} -> !stream.resource<*>{%c1152}
  hal.buffer_view.assert<%arg14 : !hal.buffer_view> message("input14") shape([%c1, %c1, %c32, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %28 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg14 : !hal.buffer_view -> tensor<1x1x32x12xf32> in !stream.resource<external>{%c1536}
  %29 = stream.async.cast on(#hal.device.affinity<@__device_0>) %28 : !stream.resource<external>{%c1536} -> !stream.resource<*>{%c1536}
  hal.buffer_view.assert<%arg15 : !hal.buffer_view> message("input15") shape([%c3, %c3, %c84, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %30 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg15 : !hal.buffer_view -> tensor<3x3x84x48xf32> in !stream.resource<external>{%c145152}
  %31 = stream.async.cast on(#hal.device.affinity<@__device_0>) %30 : !stream.resource<external>{%c145152} -> !stream.resource<*>{%c145152}
  hal.buffer_view.assert<%arg16 : !hal.buffer_view> message("input16") shape([%c1, %c1, %c48, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %32 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg16 : !hal.buffer_view -> tensor<1x1x48x4xf32> in !stream.resource<external>{%c768}
  %33 = stream.async.cast on(#hal.device.affinity<@__device_0>) %32 : !stream.resource<external>{%c768} -> !stream.resource<*>{%c768}
  %34 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_0::@branches_dispatch_0_conv_15x15x16x3x3x3_f32(%1[%c0 to %c12288 for %c12288], %3[%c0 to %c1728 for %c1728]) : (!stream.resource<*>{%c12288}, !stream.resource<*>{%c1728}) -> !stream.resource<*>{%c14400}
  %35 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_1::@branches_dispatch_1_matmul_like_225x8x16_f32(%34[%c0 to %c14400 for %c14400], %5[%c0 to %c512 for %c512]) : (!stream.resource<*>{%c14400}, !stream.resource<*>{%c512}) -> !stream.resource<*>{%c7200}
  %36 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_2::@branches_dispatch_2_matmul_like_225x24x8_f32(%35[%c0 to %c7200 for %c7200], %7[%c0 to %c768 for %c768]) : (!stream.resource<*>{%c7200}, !stream.resource<*>{%c768}) -> !stream.resource<*>{%c21600}
  %37 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_3::@branches_dispatch_3_matmul_like_225x16x24_f32(%36[%c0 to %c21600 for %c21600], %9[%c0 to %c1536 for %c1536]) : (!stream.resource<*>{%c21600}, !stream.resource<*>{%c1536}) -> !stream.resource<*>{%c14400}
  %38 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_4::@branches_dispatch_4_matmul_like_225x4x16_f32(%34[%c0 to %c14400 for %c14400], %11[%c0 to %c256 for %c256]) : (!stream.resource<*>{%c14400}, !stream.resource<*>{%c256}) -> !stream.resource<*>{%c3600}
  %39 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_5::@branches_dispatch_5_matmul_like_225x32x4_f32(%38[%c0 to %c3600 for %c3600], %13[%c0 to %c512 for %c512]) : (!stream.resource<*>{%c3600}, !stream.resource<*>{%c512}) -> !stream.resource<*>{%c28800}
  %40 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_1::@branches_dispatch_1_matmul_like_225x8x16_f32(%34[%c0 to %c14400 for %c14400], %15[%c0 to %c512 for %c512]) : (!stream.resource<*>{%c14400}, !stream.resource<*>{%c512}) -> !stream.resource<*>{%c7200}
  %41 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c50400}
  %42 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_7::@branches_dispatch_7_slow_memcpy(%40[%c0 to %c7200 for %c7200], %41[%c0 to %c50400 for %c50400]) : (!stream.resource<*>{%c7200}, !stream.resource<*>{%c50400}) -> %41{%c50400}
  %43 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_8::@branches_dispatch_8_slow_memcpy(%37[%c0 to %c14400 for %c14400], %42[%c0 to %c50400 for %c50400]) : (!stream.resource<*>{%c14400}, !stream.resource<*>{%c50400}) -> %42{%c50400}
  %44 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_9::@branches_dispatch_9_slow_memcpy(%39[%c0 to %c28800 for %c28800], %43[%c0 to %c50400 for %c50400]) : (!stream.resource<*>{%c28800}, !stream.resource<*>{%c50400}) -> %43{%c50400}
  %45 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_10::@branches_dispatch_10_conv_7x7x32x3x3x56_f32(%44[%c0 to %c50400 for %c50400], %17[%c0 to %c64512 for %c64512]) : (!stream.resource<*>{%c50400}, !stream.resource<*>{%c64512}) -> !stream.resource<*>{%c6272}
  %46 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_11::@branches_dispatch_11_matmul_like_49x12x32_f32(%45[%c0 to %c6272 for %c6272], %19[%c0 to %c1536 for %c1536]) : (!stream.resource<*>{%c6272}, !stream.resource<*>{%c1536}) -> !stream.resource<*>{%c2352}
  %47 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_12::@branches_dispatch_12_matmul_like_49x36x12_f32(%46[%c0 to %c2352 for %c2352], %21[%c0 to %c1728 for %c1728]) : (!stream.resource<*>{%c2352}, !stream.resource<*>{%c1728}) -> !stream.resource<*>{%c7056}
  %48 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_13::@branches_dispatch_13_matmul_like_49x24x36_f32(%47[%c0 to %c7056 for %c7056], %23[%c0 to %c3456 for %c3456]) : (!stream.resource<*>{%c7056}, !stream.resource<*>{%c3456}) -> !stream.resource<*>{%c4704}
  %49 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_14::@branches_dispatch_14_matmul_like_49x6x32_f32(%45[%c0 to %c6272 for %c6272], %25[%c0 to %c768 for %c768]) : (!stream.resource<*>{%c6272}, !stream.resource<*>{%c768}) -> !stream.resource<*>{%c1176}
  %50 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_15::@branches_dispatch_15_matmul_like_49x48x6_f32(%49[%c0 to %c1176 for %c1176], %27[%c0 to %c1152 for %c1152]) : (!stream.resource<*>{%c1176}, !stream.resource<*>{%c1152}) -> !stream.resource<*>{%c9408}
  %51 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_11::@branches_dispatch_11_matmul_like_49x12x32_f32(%45[%c0 to %c6272 for %c6272], %29[%c0 to %c1536 for %c1536]) : (!stream.resource<*>{%c6272}, !stream.resource<*>{%c1536}) -> !stream.resource<*>{%c2352}
  %52 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c16464}
  %53 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_17::@branches_dispatch_17_slow_memcpy(%51[%c0 to %c2352 for %c2352], %52[%c0 to %c16464 for %c16464]) : (!stream.resource<*>{%c2352}, !stream.resource<*>{%c16464}) -> %52{%c16464}
  %54 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_18::@branches_dispatch_18_slow_memcpy(%48[%c0 to %c4704 for %c4704], %53[%c0 to %c16464 for %c16464]) : (!stream.resource<*>{%c4704}, !stream.resource<*>{%c16464}) -> %53{%c16464}
  %55 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_19::@branches_dispatch_19_slow_memcpy(%50[%c0 to %c9408 for %c9408], %54[%c0 to %c16464 for %c16464]) : (!stream.resource<*>{%c9408}, !stream.resource<*>{%c16464}) -> %54{%c16464}
  %56 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_20::@branches_dispatch_20_conv_3x3x48x3x3x84_f32(%55[%c0 to %c16464 for %c16464], %31[%c0 to %c145152 for %c145152]) : (!stream.resource<*>{%c16464}, !stream.resource<*>{%c145152}) -> !stream.resource<*>{%c1728}
  %57 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @branches_dispatch_21::@branches_dispatch_21_matmul_like_9x4x48_f32(%56[%c0 to %c1728 for %c1728], %33[%c0 to %c768 for %c768]) : (!stream.resource<*>{%c1728}, !stream.resource<*>{%c768}) -> !stream.resource<*>{%c144}
  %58 = stream.async.cast on(#hal.device.affinity<@__device_0>) %57 : !stream.resource<*>{%c144} -> !stream.resource<external>{%c144}
  %59 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %58 : tensor<1x3x3x4xf32> in !stream.resource<external>{%c144} -> !hal.buffer_view
  util.return %59 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @branches(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view, %arg13: !hal.buffer_view, %arg14: !hal.buffer_view, %arg15: !hal.buffer_view, %arg16: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @branches(%input0: tensor<1x32x32x3xf32>, %input1: tensor<3x3x3x16xf32>, %input2: tensor<1x1x16x8xf32>, %input3: tensor<1x1x8x24xf32>, %input4: tensor<1x1x24x16xf32>, %input5: tensor<1x1x16x4xf32>, %input6: tensor<1x1x4x32xf32>, %input7: tensor<1x1x16x8xf32>, %input8: tensor<3x3x56x32xf32>, %input9: tensor<1x1x32x12xf32>, %input10: tensor<1x1x12x36xf32>, %input11: tensor<1x1x36x24xf32>, %input12: tensor<1x1x32x6xf32>, %input13: tensor<1x1x6x48xf32>, %input14: tensor<1x1x32x12xf32>, %input15: tensor<3x3x84x48xf32>, %input16: tensor<1x1x48x4xf32>) -> (%output0: tensor<1x3x3x4xf32>)"}} {
  %c144 = arith.constant 144 : index
  %c16464 = arith.constant 16464 : index
  %c9408 = arith.constant 9408 : index
  %c1176 = arith.constant 1176 : index
  %c4704 = arith.constant 4704 : index
  %c7056 = arith.constant 7056 : index
  %c2352 = arith.constant 2352 : index
  %c6272 = arith.constant 6272 : index
  %c50400 = arith.constant 50400 : index
  %c28800 = arith.constant 28800 : index
  %c3600 = arith.constant 3600 : index
  %c21600 = arith.constant 21600 : index
  %c7200 = arith.constant 7200 : index
  %c0 = arith.constant 0 : index
  %c14400 = arith.constant 14400 : index
  %c145152 = arith.constant 145152 : index
  %c1152 = arith.constant 1152 : index
  %c3456 = arith.constant 3456 : index
  %c64512 = arith.constant 64512 : index
  %c256 = arith.constant 256 : index
  %c1536 = arith.constant 1536 : index
  %c768 = arith.constant 768 : index
  %c512 = arith.constant 512 : index
  %c1728 = arith.constant 1728 : index
  %c12288 = arith.constant 12288 : index
  %c84 = arith.constant 84 : index
  %c48 = arith.constant 48 : index
  %c6 = arith.constant 6 : index
  %c36 = arith.constant 36 : index
  %c12 = arith.constant 12 : index
  %c56 = arith.constant 56 : index
  %c4 = arith.constant 4 : index
  %c24 = arith.constant 24 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c32, %c32, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x32x32x3xf32> in !stream.resource<external>{%c12288}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x16xf32> in !stream.resource<external>{%c1728}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c1, %c1, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<1x1x16x8xf32> in !stream.resource<external>{%c512}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c1, %c1, %c8, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %3 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<1x1x8x24xf32> in !stream.resource<external>{%c768}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c1, %c1, %c24, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<1x1x24x16xf32> in !stream.resource<external>{%c1536}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c16, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %5 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x16x4xf32> in !stream.resource<external>{%c256}
  hal.buffer_view.assert<%arg6 : !hal.buffer_view> message("input6") shape([%c1, %c1, %c4, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg6 : !hal.buffer_view -> tensor<1x1x4x32xf32> in !stream.resource<external>{%c512}
  hal.buffer_view.assert<%arg7 : !hal.buffer_view> message("input7") shape([%c1, %c1, %c16, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %7 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg7 : !hal.buffer_view -> tensor<1x1x16x8xf32> in !stream.resource<external>{%c512}
  hal.buffer_view.assert<%arg8 : !hal.buffer_view> message("input8") shape([%c3, %c3, %c56, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg8 : !hal.buffer_view -> tensor<3x3x56x32xf32> in !stream.resource<external>{%c64512}
  hal.buffer_view.assert<%arg9 : !hal.buffer_view> message("input9") shape([%c1, %c1, %c32, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %9 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg9 : !hal.buffer_view -> tensor<1x1x32x12xf32> in !stream.resource<external>{%c1536}
  hal.buffer_view.assert<%arg10 : !hal.buffer_view> message("input10") shape([%c1, %c1, %c12, %c36]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg10 : !hal.buffer_view -> tensor<1x1x12x36xf32> in !stream.resource<external>{%c1728}
  hal.buffer_view.assert<%arg11 : !hal.buffer_view> message("input11") shape([%c1, %c1, %c36, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %11 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg11 : !hal.buffer_view -> tensor<1x1x36x24xf32> in !stream.resource<external>{%c3456}
  hal.buffer_view.assert<%arg12 : !hal.buffer_view> message("input12") shape([%c1, %c1, %c32, %c6]) type(%element_type_f32) encoding(%dense_row_major)
  %12 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg12 : !hal.buffer_view -> tensor<1x1x32x6xf32> in !stream.resource<external>{%c768}
  hal.buffer_view.assert<%arg13 : !hal.buffer_view> message("input13") shape([%c1, %c1, %c6, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %13 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg13 : !hal.buffer_view -> tensor<1x1x6x48xf32> in !stream.resource<external>{%c1152}
  hal.buffer_view.assert<%arg14 : !hal.buffer_view> message("input14") shape([%c1, %c1, %c32, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %14 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg14 : !hal.buffer_view -> tensor<1x1x32x12xf32> in !stream.resource<external>{%c1536}
  hal.buffer_view.assert<%arg15 : !hal.buffer_view> message("input15") shape([%c3, %c3, %c84, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %15 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg15 : !hal.buffer_view -> tensor<3x3x84x48xf32> in !stream.resource<external>{%c145152}
  hal.buffer_view.assert<%arg16 : !hal.buffer_view> message("input16") shape([%c1, %c1, %c48, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %16 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg16 : !hal.buffer_view -> tensor<1x1x48x4xf32> in !stream.resource<external>{%c768}
  %c0_0 = arith.constant 0 : index
  %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<external>{%c144} => !stream.timepoint
  %17:18 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 4] = %c14400,
    [1, 2] = %c7200,
    [2, 3] = %c21600,
    [3, 7] = %c14400,
    [3, 4] = %c3600,
    [4, 8] = %c28800,
    [4, 6] = %c7200,
    [5, 9] = %c50400,
    [9, 13] = %c6272,
    [10, 11] = %c2352,
    [11, 12] = %c7056,
    [12, 16] = %c4704,
    [12, 13] = %c1176,
    [13, 17] = %c9408,
    [13, 15] = %c2352,
    [14, 18] = %c16464,
    [18, 19] = %c1728
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%17#0} => !stream.timepoint
  %18 = stream.timepoint.join max(%result_timepoint, %result_timepoint_2) => !stream.timepoint
  %19 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%18) => with(%0 as %arg17: !stream.resource<external>{%c12288}, %1 as %arg18: !stream.resource<external>{%c1728}, %2 as %arg19: !stream.resource<external>{%c512}, %3 as %arg20: !stream.resource<external>{%c768}, %4 as %arg21: !stream.resource<external>{%c1536}, %5 as %arg22: !stream.resource<external>{%c256}, %6 as %arg23: !stream.resource<external>{%c512}, %7 as %arg24: !stream.resource<external>{%c512}, %8 as %arg25: !stream.resource<external>{%c64512}, %9 as %arg26: !stream.resource<external>{%c1536}, %10 as %arg27: !stream.resource<external>{%c1728}, %11 as %arg28: !stream.resource<external>{%c3456}, %12 as %arg29: !stream.resource<external>{%c768}, %13 as %arg30: !stream.resource<external>{%c1152}, %14 as %arg31: !stream.resource<external>{%c1536}, %15 as %arg32: !stream.resource<external>{%c145152}, %16 as %arg33: !stream.resource<external>{%c768}, %result as %arg34: !stream.resource<external>{%c144}, %result_1 as %arg35: !stream.resource<transient>{%17#0}) {
    stream.cmd.dispatch @branches_dispatch_0::@branches_dispatch_0_conv_15x15x16x3x3x3_f32 {
      ro %arg17[%c0 for %c12288] : !stream.resource<external>{%c12288},
      ro %arg18[%c0 for %c1728] : !stream.resource<external>{%c1728},
      wo %arg35[%17#1 for %c14400] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_1::@branches_dispatch_1_matmul_like_225x8x16_f32 {
      ro %arg35[%17#1 for %c14400] : !stream.resource<transient>{%17#0},
      ro %arg19[%c0 for %c512] : !stream.resource<external>{%c512},
      wo %arg35[%17#2 for %c7200] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_2::@branches_dispatch_2_matmul_like_225x24x8_f32 {
      ro %arg35[%17#2 for %c7200] : !stream.resource<transient>{%17#0},
      ro %arg20[%c0 for %c768] : !stream.resource<external>{%c768},
      wo %arg35[%17#3 for %c21600] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @branches_dispatch_3::@branches_dispatch_3_matmul_like_225x16x24_f32 {
        ro %arg35[%17#3 for %c21600] : !stream.resource<transient>{%17#0},
        ro %arg21[%c0 for %c1536] : !stream.resource<external>{%c1536},
        wo %arg35[%17#4 for %c14400] : !stream.resource<transient>{%17#0}
      }
      stream.cmd.dispatch @branches_dispatch_4::@branches_dispatch_4_matmul_like_225x4x16_f32 {
        ro %arg35[%17#1 for %c14400] : !stream.resource<transient>{%17#0},
        ro %arg22[%c0 for %c256] : !stream.resource<external>{%c256},
        wo %arg35[%17#5 for %c3600] : !stream.resource<transient>{%17#0}
      }
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @branches_dispatch_5::@branches_dispatch_5_matmul_like_225x32x4_f32 {
        ro %arg35[%17#5 for %c3600] : !stream.resource<transient>{%17#0},
        ro %arg23[%c0 for %c512] : !stream.resource<external>{%c512},
        wo %arg35[%17#6 for %c28800] : !stream.resource<transient>{%17#0}
      }
      stream.cmd.dispatch @branches_dispatch_1::@branches_dispatch_1_matmul_like_225x8x16_f32 {
        ro %arg35[%17#1 for %c14400] : !stream.resource<transient>{%17#0},
        ro %arg24[%c0 for %c512] : !stream.resource<external>{%c512},
        wo %arg35[%17#7 for %c7200] : !stream.resource<transient>{%17#0}
      }
    }
    stream.cmd.dispatch @branches_dispatch_7::@branches_dispatch_7_slow_memcpy {
      ro %arg35[%17#7 for %c7200] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#8 for %c50400] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_8::@branches_dispatch_8_slow_memcpy {
      ro %arg35[%17#4 for %c14400] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#8 for %c50400] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_9::@branches_dispatch_9_slow_memcpy {
      ro %arg35[%17#6 for %c28800] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#8 for %c50400] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_10::@branches_dispatch_10_conv_7x7x32x3x3x56_f32 {
      ro %arg35[%17#8 for %c50400] : !stream.resource<transient>{%17#0},
      ro %arg25[%c0 for %c64512] : !stream.resource<external>{%c64512},
      wo %arg35[%17#9 for %c6272] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_11::@branches_dispatch_11_matmul_like_49x12x32_f32 {
      ro %arg35[%17#9 for %c6272] : !stream.resource<transient>{%17#0},
      ro %arg26[%c0 for %c1536] : !stream.resource<external>{%c1536},
      wo %arg35[%17#10 for %c2352] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_12::@branches_dispatch_12_matmul_like_49x36x12_f32 {
      ro %arg35[%17#10 for %c2352] : !stream.resource<transient>{%17#0},
      ro %arg27[%c0 for %c1728] : !stream.resource<external>{%c1728},
      wo %arg35[%17#11 for %c7056] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @branches_dispatch_13::@branches_dispatch_13_matmul_like_49x24x36_f32 {
        ro %arg35[%17#11 for %c7056] : !stream.resource<transient>{%17#0},
        ro %arg28[%c0 for %c3456] : !stream.resource<external>{%c3456},
        wo %arg35[%17#12 for %c4704] : !stream.resource<transient>{%17#0}
      }
      stream.cmd.dispatch @branches_dispatch_14::@branches_dispatch_14_matmul_like_49x6x32_f32 {
        ro %arg35[%17#9 for %c6272] : !stream.resource<transient>{%17#0},
        ro %arg29[%c0 for %c768] : !stream.resource<external>{%c768},
        wo %arg35[%17#13 for %c1176] : !stream.resource<transient>{%17#0}
      }
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @branches_dispatch_15::@branches_dispatch_15_matmul_like_49x48x6_f32 {
        ro %arg35[%17#13 for %c1176] : !stream.resource<transient>{%17#0},
        ro %arg30[%c0 for %c1152] : !stream.resource<external>{%c1152},
        wo %arg35[%17#14 for %c9408] : !stream.resource<transient>{%17#0}
      }
      stream.cmd.dispatch @branches_dispatch_11::@branches_dispatch_11_matmul_like_49x12x32_f32 {
        ro %arg35[%17#9 for %c6272] : !stream.resource<transient>{%17#0},
        ro %arg31[%c0 for %c1536] : !stream.resource<external>{%c1536},
        wo %arg35[%17#15 for %c2352] : !stream.resource<transient>{%17#0}
      }
    }
    stream.cmd.dispatch @branches_dispatch_17::@branches_dispatch_17_slow_memcpy {
      ro %arg35[%17#15 for %c2352] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#16 for %c16464] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_18::@branches_dispatch_18_slow_memcpy {
      ro %arg35[%17#12 for %c4704] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#16 for %c16464] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_19::@branches_dispatch_19_slow_memcpy {
      ro %arg35[%17#14 for %c9408] : !stream.resource<transient>{%17#0},
      rw %arg35[%17#16 for %c16464] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_20::@branches_dispatch_20_conv_3x3x48x3x3x84_f32 {
      ro %arg35[%17#16 for %c16464] : !stream.resource<transient>{%17#0},
      ro %arg32[%c0 for %c145152] : !stream.resource<external>{%c145152},
      wo %arg35[%17#17 for %c1728] : !stream.resource<transient>{%17#0}
    }
    stream.cmd.dispatch @branches_dispatch_21::@branches_dispatch_21_matmul_like_9x4x48_f32 {
      ro %arg35[%17#17 for %c1728] : !stream.resource<transient>{%17#0},
      ro %arg33[%c0 for %c768] : !stream.resource<external>{%c768},
      wo %arg34[%c0_0 for %c144] : !stream.resource<external>{%c144}
    }
  } => !stream.timepoint
  %20 = stream.resource.dealloca on(#hal.device.affinity<@__device_0>) await(%19) => %result_1 : !stream.resource<transient>{%17#0} => !stream.timepoint
  %21 = stream.timepoint.join max(%20, %19) => !stream.timepoint
  %22 = stream.timepoint.await %21 => %result : !stream.resource<external>{%c144}
  %23 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %22 : tensor<1x3x3x4xf32> in !stream.resource<external>{%c144} -> !hal.buffer_view
  util.return %23 : !hal.buffer_view
}

