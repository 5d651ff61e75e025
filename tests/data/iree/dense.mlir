// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @dense(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @dense(%input0: tensor<1x20x20x3xf32>, %input1: tensor<3x3x3x12xf32>, %input2: tensor<1x1x12x16xf32>, %input3: tensor<1x1x16x4xf32>, %input4: tensor<1x1x16x24xf32>, %input5: tensor<1x1x24x6xf32>, %input6: tensor<1x1x22x32xf32>, %input7: tensor<1x1x32x8xf32>, %input8: tensor<1x1x30x40xf32>, %input9: tensor<1x1x40x10xf32>, %input10: tensor<1x1x40x48xf32>, %input11: tensor<1x1x48x12xf32>, %input12: tensor<3x3x52x5xf32>) -> (%output0: tensor<1x16x16x5xf32>)"}} {
  %c5120 = arith.constant 5120 : index
  %c67392 = arith.constant 67392 : index
  %c62208 = arith.constant 62208 : index
  %c12960 = arith.constant 12960 : index
  %c51840 = arith.constant 51840 : index
  %c38880 = arith.constant 38880 : index
  %c10368 = arith.constant 10368 : index
  %c41472 = arith.constant 41472 : index
  %c28512 = arith.constant 28512 : index
  %c7776 = arith.constant 7776 : index
  %c31104 = arith.constant 31104 : index
  %c5184 = arith.constant 5184 : index
  %c20736 = arith.constant 20736 : index
  %c0 = arith.constant 0 : index
  %c15552 = arith.constant 15552 : index
  %c9360 = arith.constant 9360 : index
  %c2304 = arith.constant 2304 : index
  %c7680 = arith.constant 7680 : index
  %c1600 = arith.constant 1600 : index
  %c1024 = arith.constant 1024 : index
  %c2816 = arith.constant 2816 : index
  %c576 = arith.constant 576 : index
  %c1536 = arith.constant 1536 : index
  %c256 = arith.constant 256 : index
  %c768 = arith.constant 768 : index
  %c1296 = arith.constant 1296 : index
  %c4800 = arith.constant 4800 : index
  %c5 = arith.constant 5 : index
  %c52 = arith.constant 52 : index
  %c48 = arith.constant 48 : index
  %c10 = arith.constant 10 : index
  %c40 = arith.constant 40 : index
  %c30 = arith.constant 30 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c22 = arith.constant 22 : index
  %c6 = arith.constant 6 : index
  %c24 = arith.constant 24 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c12 = arith.constant 12 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c20, %c20, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x20x20x3xf32> in !stream.resource<external>{%c4800}
  %1 = stream.async.cast on(#hal.device.affinity<@__device_0>) %0 : !stream.resource<external>{%c4800} -> !stream.resource<*>{%c4800}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x12xf32> in !stream.resource<external>{%c1296}
  %3 = stream.async.cast on(#hal.device.affinity<@__device_0>) %2 : !stream.resource<external>{%c1296} -> !stream.resource<*>{%c1296}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c1, %c1, %c12, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<1x1x12x16xf32> in !stream.resource<external>{%c768}
  %5 = stream.async.cast on(#hal.device.affinity<@__device_0>) %4 : !stream.resource<external>{%c768} -> !stream.resource<*>{%c768}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c1, %c1, %c16, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<1x1x16x4xf32> in !stream.resource<external>{%c256}
  %7 = stream.async.cast on(#hal.device.affinity<@__device_0>) %6 : !stream.resource<external>{%c256} -> !stream.resource<*>{%c256}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c1, %c1, %c16, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<1x1x16x24xf32> in !stream.resource<external>{%c1536}
  %9 = stream.async.cast on(#hal.device.affinity<@__device_0>) %8 : !stream.resource<external>{%c1536} -> !stream.resource<*>{%c1536}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c6]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x6xf32> in !stream.resource<external>{%c576}
  %11 = stream.async.cast on(#hal.device.affinity<@__device_0>) %10 : !stream.resource<external>{%c576} -> !stream.resource<*>{%c576}
  hal.buffer_view.assert<%arg6 : !hal.buffer_view> message("input6") shape([%c1, %c1, %c22, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %12 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg6 : !hal.buffer_view -> tensor<1x1x22x32xf32> in !stream.resource<external>{%c2816}
  %13 = stream.async.cast on(#hal.device.affinity<@__device_0>) %12 : !stream.resource<external>{%c2816} -> !stream.resource<*>{%c2816}
  hal.buffer_view.assert<%arg7 : !hal.buffer_view> message("input7") shape([%c1, %c1, %c32, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %14 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg7 : !hal.buffer_view -> tensor<1x1x32x8xf32> in !stream.resource<external>{%c1024}
  %15 = stream.async.cast on(#hal.device.affinity<@__device_0>) %14 : !stream.resource<external>{%c1024} -> !stream.resource<*>{%c1024}
  hal.buffer_view.assert<%arg8 : !hal.buffer_view> message("input8") shape([%c1, %c1, %c30, %c40]) type(%element_type_f32) encoding(%dense_row_major)
  %16 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg8 : !hal.buffer_view -> tensor<1x1x30x40xf32> in !stream.resource<external>{%c4800}
  %17 = stream.async.cast on(#hal.device.affinity<@__device_0>) %16 : !stream.resource<external>{%c4800} -> !stream.resource<*>{%c4800}
  hal.buffer_view.assert<%arg9 : !hal.buffer_view> message("input9") shape([%c1, %c1, %c40, %c10]) type(%element_type_f32) encoding(%dense_row_major)
  %18 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg9 : !hal.buffer_view -> tensor<1x1x40x10xf32> in !stream.resource<external>{%c1600}
  %19 = stream.async.cast on(#hal.device.affinity<@__device_0>) %18 : !stream.resource<external>{%c1600} -> !stream.resource<*>{%c1600}
  hal.buffer_view.assert<%arg10 : !hal.buffer_view> message("input10") shape([%c1, %c1, %c40, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %20 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg10 : !hal.buffer_view -> tensor<1x1x40x48xf32> in !stream.resource<external>{%c7680}
  %21 = stream.async.cast on(#hal.device.affinity<@__device_0>) %20 : !stream.resource<external>{%c7680} -> !stream.resource<*>{%c7680}
  hal.buffer_view.assert<%arg11 : !hal.buffer_view> message("input11") shape([%c1, %c1, %c48, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %22 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg11 : !hal.buffer_view -> tensor<1x1x48x12xf32> in !stream.resource<external>{%c2304}
  %23 = stream.async.cast on(#hal.device.affinity<@__device_0>) %22 : !stream.resource<external>{%c2304} -> !stream.resource<*>{%c2304}
  hal.buffer_view.assert<%arg12 : !hal.buffer_view> message("input12") shape([%c3, %c3, %c52, %c5]) type(%element_type_f32) encoding(%dense_row_major)
  %24 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg12 : !hal.buffer_view -> tensor<3x3x52x5xf32> in !stream.resource<external>{%c9360}
  %25 = stream.async.cast on(#hal.device.affinity<@__device_0>) %24 : !stream.resource<external>{%c9360} -> !stream.resource<*>{%c9360}
  %26 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_0::@dense_dispatch_0_conv_18x18x12x3x3x3_f32(%1[%c0 to %c4800 for %c4800], %3[%c0 to %c1296 for %c1296]) : (!stream.resource<*>{%c4800}, !stream.resource<*>{%c1296}) -> !stream.resource<*>{%c15552}
  %27 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_1::@dense_dispatch_1_matmul_like_324x16x12_f32(%26[%c0 to %c15552 for %c15552], %5[%c0 to %c768 for %c768]) : (!stream.resource<*>{%c15552}, !stream.resource<*>{%c768}) -> !stream.resource<*>{%c20736}
  %28 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_2::@dense_dispatch_2_matmul_like_324x4x16_f32(%27[%c0 to %c20736 for %c20736], %7[%c0 to %c256 for %c256]) : (!stream.resource<*>{%c20736}, !stream.resource<*>{%c256}) -> !stream.resource<*>{%c5184}
  %29 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c20736}
  %30 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_3::@dense_dispatch_3_slow_memcpy(%26[%c0 to %c15552 for %c15552], %29[%c0 to %c20736 for %c20736]) : (!stream.resource<*>{%c15552}, !stream.resource<*>{%c20736}) -> %29{%c20736}
  %31 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_4::@dense_dispatch_4_slow_memcpy(%28[%c0 to %c5184 for %c5184], %30[%c0 to %c20736 for %c20736]) : (!stream.resource<*>{%c5184}, !stream.resource<*>{%c20736}) -> %30{%c20736}
  %32 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_5::@dense_dispatch_5_matmul_like_324x24x16_f32(%31[%c0 to %c20736 for %c20736], %9[%c0 to %c1536 for %c1536]) : (!stream.resource<*>{%c20736}, !stream.resource<*>{%c1536}) -> !stream.resource<*>{%c31104}
  %33 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_6::@dense_dispatch_6_matmul_like_324x6x24_f32(%32[%c0 to %c31104 for %c31104], %11[%c0 to %c576 for %c576]) : (!stream.resource<*>{%c31104}, !stream.resource<*>{%c576}) -> !stream.resource<*>{%c7776}
  %34 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c28512}
  %35 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_7::@dense_dispatch_7_slow_memcpy(%31[%c0 to %c20736 for %c20736], %34[%c0 to %c28512 for %c28512]) : (!stream.resource<*>{%c20736}, !stream.resource<*>{%c28512}) -> %34{%c28512}
  %36 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_8::@dense_dispatch_8_slow_memcpy(%33[%c0 to %c7776 for %c7776], %35[%c0 to %c28512 for %c28512]) : (!stream.resource<*>{%c7776}, !stream.resource<*>{%c28512}) -> %35{%c28512}
  %37 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_9::@dense_dispatch_9_matmul_like_324x32x22_f32(%36[%c0 to %c28512 for %c28512], %13[%c0 to %c2816 for %c2816]) : (!stream.resource<*>{%c28512}, !stream.resource<*>{%c2816}) -> !stream.resource<*>{%c41472}
  %38 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_10::@dense_dispatch_10_matmul_like_324x8x32_f32(%37[%c0 to %c41472 for %c41472], %15[%c0 to %c1024 for %c1024]) : (!stream.resource<*>{%c41472}, !stream.resource<*>{%c1024}) -> !stream.resource<*>{%c10368}
  %39 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c38880}
  %40 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_11::@dense_dispatch_11_slow_memcpy(%36[%c0 to %c28512 for %c28512], %39[%c0 to %c38880 for %c38880]) : (!stream.resource<*>{%c28512}, !stream.resource<*>{%c38880}) -> %39{%c38880}
  %41 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_12::@dense_dispatch_12_slow_memcpy(%38[%c0 to %c10368 for %c10368], %40[%c0 to %c38880 for %c38880]) : (!stream.resource<*>{%c10368}, !stream.resource<*>{%c38880}) -> %40{%c38880}
  %42 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_13::@dense_dispatch_13_matmul_like_324x40x30_f32(%41[%c0 to %c38880 for %c38880], %17[%c0 to %c4800 for %c4800]) : (!stream.resource<*>{%c38880}, !stream.resource<*>{%c4800}) -> !stream.resource<*>{%c51840}
  %43 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_14::@dense_dispatch_14_matmul_like_324x10x40_f32(%42[%c0 to %c51840 for %c51840], %19[%c0 to %c1600 for %c1600]) : (!stream.resource<*>{%c51840}, !stream.resource<*>{%c1600}) -> !stream.resource<*>{%c12960}
  %44 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c51840}
  %45 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_15::@dense_dispatch_15_slow_memcpy(%41[%c0 to %c38880 for %c38880], %44[%c0 to %c51840 for %c51840]) : (!stream.resource<*>{%c38880}, !stream.resource<*>{%c51840}) -> %44{%c51840}
  %46 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_16::@dense_dispatch_16_slow_memcpy(%43[%c0 to %c12960 for %c12960], %45[%c0 to %c51840 for %c51840]) : (!stream.resource<*>{%c12960}, !stream.resource<*>{%c51840}) -> %45{%c51840}
  %47 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_17::@dense_dispatch_17_matmul_like_324x48x40_f32(%46[%c0 to %c51840 for %c51840], %21[%c0 to %c7680 for %c7680]) : (!stream.resource<*>{%c51840}, !stream.resource<*>{%c7680}) -> !stream.resource<*>{%c62208}
  %48 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_18::@dense_dispatch_18_matmul_like_324x12x48_f32(%47[%c0 to %c62208 for %c62208], %23[%c0 to %c2304 for %c2304]) : (!stream.resource<*>{%c62208}, !stream.resource<*>{%c2304}) -> !stream.resource<*>{%c15552}
  %49 = stream.async.alloca on(#hal.device.affinity<@__device_0>) : !stream.resource<*>{%c67392}
  %50 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_19::@dense_dispatch_19_slow_memcpy(%46[%c0 to %c51840 for %c51840], %49[%c0 to %c67392 for %c67392]) : (!stream.resource<*>{%c51840}, !stream.resource<*>{%c67392}) -> %49{%c67392}
  %51 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_20::@dense_dispatch_20_slow_memcpy(%48[%c0 to %c15552 for %c15552], %50[%c0 to %c67392 for %c67392]) : (!stream.resource<*>{%c15552}, !stream.resource<*>{%c67392}) -> %50{%c67392}
  %52 = stream.async.dispatch on(#hal.device.affinity<@__device_0>) @dense_dispatch_21::@dense_dispatch_21_conv_16x16x5x3x3x52_f32(%51[%c0 to %c67392 for %c67392], %25[%c0 to %c9360 for %c9360]) : (!stream.resource<*>{%c67392}, !stream.resource<*>{%c9360}) -> !stream.resource<*>{%c5120}
  %53 = stream.async.cast on(#hal.device.affinity<@__device_0>) %52 : !stream.resource<*>{%c5120} -> !stream.resource<external>{%c5120}
  %54 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %53 : tensor<1x16x16x5xf32> in !stream.resource<external>{%c5120} -> !hal.buffer_view
  util.return %54 : !hal.buffer_view
}

// -----// IR Dump Before LayoutSlicesPass: iree-stream-layout-slices //----- //
util.func public @dense(%arg0: !hal.buffer_view, %arg1: !hal.buffer_view, %arg2: !hal.buffer_view, %arg3: !hal.buffer_view, %arg4: !hal.buffer_view, %arg5: !hal.buffer_view, %arg6: !hal.buffer_view, %arg7: !hal.buffer_view, %arg8: !hal.buffer_view, %arg9: !hal.buffer_view, %arg10: !hal.buffer_view, %arg11: !hal.buffer_view, %arg12: !hal.buffer_view) -> !hal.buffer_view attributes {iree.abi.stub, iree.reflection = {iree.abi.declaration = "sync func @dense(%input0: tensor<1x20x20x3xf32>, %input1: tensor<3x3x3x12xf32>, %input2: tensor<1x1x12x16xf32>, %input3: tensor<1x1x16x4xf32>, %input4: tensor<1x1x16x24xf32>, %input5: tensor<1x1x24x6xf32>, %input6: tensor<1x1x22x32xf32>, %input7: tensor<1x1x32x8xf32>, %input8: tensor<1x1x30x40xf32>, %input9: tensor<1x1x40x10xf32>, %input10: tensor<1x1x40x48xf32>, %input11: tensor<1x1x48x12xf32>, %input12: tensor<3x3x52x5xf32>) -> (%output0: tensor<1x16x16x5xf32>)"}} {
  %c5120 = arith.constant 5120 : index
  %c67392 = arith.constant 67392 : index
  %c62208 = arith.constant 62208 : index
  %c12960 = arith.constant 12960 : index
  %c51840 = arith.constant 51840 : index
  %c38880 = arith.constant 38880 : index
  %c10368 = arith.constant 10368 : index
  %c41472 = arith.constant 41472 : index
  %c28512 = arith.constant 28512 : index
  %c7776 = arith.constant 7776 : index
  %c31104 = arith.constant 31104 : index
  %c5184 = arith.constant 5184 : index
  %c20736 = arith.constant 20736 : index
  %c0 = arith.constant 0 : index
  %c15552 = arith.constant 15552 : index
  %c9360 = arith.constant 9360 : index
  %c2304 = arith.constant 2304 : index
  %c7680 = arith.constant 7680 : index
  %c1600 = arith.constant 1600 : index
  %c1024 = arith.constant 1024 : index
  %c2816 = arith.constant 2816 : index
  %c576 = arith.constant 576 : index
  %c1536 = arith.constant 1536 : index
  %c256 = arith.constant 256 : index
  %c768 = arith.constant 768 : index
  %c1296 = arith.constant 1296 : index
  %c4800 = arith.constant 4800 : index
  %c5 = arith.constant 5 : index
  %c52 = arith.constant 52 : index
  %c48 = arith.constant 48 : index
  %c10 = arith.constant 10 : index
  %c40 = arith.constant 40 : index
  %c30 = arith.constant 30 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c22 = arith.constant 22 : index
  %c6 = arith.constant 6 : index
  %c24 = arith.constant 24 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c12 = arith.constant 12 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %c1 = arith.constant 1 : index
  %element_type_f32 = hal.element_type<f32> : i32
  %dense_row_major = hal.encoding_type<dense_row_major> : i32
  hal.buffer_view.assert<%arg0 : !hal.buffer_view> message("input0") shape([%c1, %c20, %c20, %c3]) type(%element_type_f32) encoding(%dense_row_major)
  %0 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg0 : !hal.buffer_view -> tensor<1x20x20x3xf32> in !stream.resource<external>{%c4800}
  hal.buffer_view.assert<%arg1 : !hal.buffer_view> message("input1") shape([%c3, %c3, %c3, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %1 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg1 : !hal.buffer_view -> tensor<3x3x3x12xf32> in !stream.resource<external>{%c1296}
  hal.buffer_view.assert<%arg2 : !hal.buffer_view> message("input2") shape([%c1, %c1, %c12, %c16]) type(%element_type_f32) encoding(%dense_row_major)
  %2 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg2 : !hal.buffer_view -> tensor<1x1x12x16xf32> in !stream.resource<external>{%c768}
  hal.buffer_view.assert<%arg3 : !hal.buffer_view> message("input3") shape([%c1, %c1, %c16, %c4]) type(%element_type_f32) encoding(%dense_row_major)
  %3 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg3 : !hal.buffer_view -> tensor<1x1x16x4xf32> in !stream.resource<external>{%c256}
  hal.buffer_view.assert<%arg4 : !hal.buffer_view> message("input4") shape([%c1, %c1, %c16, %c24]) type(%element_type_f32) encoding(%dense_row_major)
  %4 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg4 : !hal.buffer_view -> tensor<1x1x16x24xf32> in !stream.resource<external>{%c1536}
  hal.buffer_view.assert<%arg5 : !hal.buffer_view> message("input5") shape([%c1, %c1, %c24, %c6]) type(%element_type_f32) encoding(%dense_row_major)
  %5 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg5 : !hal.buffer_view -> tensor<1x1x24x6xf32> in !stream.resource<external>{%c576}
  hal.buffer_view.assert<%arg6 : !hal.buffer_view> message("input6") shape([%c1, %c1, %c22, %c32]) type(%element_type_f32) encoding(%dense_row_major)
  %6 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg6 : !hal.buffer_view -> tensor<1x1x22x32xf32> in !stream.resource<external>{%c2816}
  hal.buffer_view.assert<%arg7 : !hal.buffer_view> message("input7") shape([%c1, %c1, %c32, %c8]) type(%element_type_f32) encoding(%dense_row_major)
  %7 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg7 : !hal.buffer_view -> tensor<1x1x32x8xf32> in !stream.resource<external>{%c1024}
  hal.buffer_view.assert<%arg8 : !hal.buffer_view> message("input8") shape([%c1, %c1, %c30, %c40]) type(%element_type_f32) encoding(%dense_row_major)
  %8 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg8 : !hal.buffer_view -> tensor<1x1x30x40xf32> in !stream.resource<external>{%c4800}
  hal.buffer_view.assert<%arg9 : !hal.buffer_view> message("input9") shape([%c1, %c1, %c40, %c10]) type(%element_type_f32) encoding(%dense_row_major)
  %9 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg9 : !hal.buffer_view -> tensor<1x1x40x10xf32> in !stream.resource<external>{%c1600}
  hal.buffer_view.assert<%arg10 : !hal.buffer_view> message("input10") shape([%c1, %c1, %c40, %c48]) type(%element_type_f32) encoding(%dense_row_major)
  %10 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg10 : !hal.buffer_view -> tensor<1x1x40x48xf32> in !stream.resource<external>{%c7680}
  hal.buffer_view.assert<%arg11 : !hal.buffer_view> message("input11") shape([%c1, %c1, %c48, %c12]) type(%element_type_f32) encoding(%dense_row_major)
  %11 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg11 : !hal.buffer_view -> tensor<1x1x48x12xf32> in !stream.resource<external>{%c2304}
  hal.buffer_view.assert<%arg12 : !hal.buffer_view> message("input12") shape([%c3, %c3, %c52, %c5]) type(%element_type_f32) encoding(%dense_row_major)
  %12 = stream.tensor.import on(#hal.device.affinity<@__device_0>) %arg12 : !hal.buffer_view -> tensor<3x3x52x5xf32> in !stream.resource<external>{%c9360}
  %c0_0 = arith.constant 0 : index
  %result, %result_timepoint = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<external>{%c5120} => !stream.timepoint
  %13:17 = stream.resource.pack on(#hal.device.affinity<@__device_0>) slices({
    [0, 3] = %c15552,
    [1, 3] = %c20736,
    [2, 7] = %c20736,
    [3, 4] = %c5184,
    [5, 7] = %c31104,
    [6, 11] = %c28512,
    [7, 8] = %c7776,
    [9, 11] = %c41472,
    [10, 15] = %c38880,
    [11, 12] = %c10368,
    [13, 15] = %c51840,
    [14, 19] = %c51840,
    [15, 16] = %c12960,
    [17, 19] = %c62208,
    [18, 21] = %c67392,
    [19, 20] = %c15552
  }) : index
  %result_1, %result_timepoint_2 = stream.resource.alloca uninitialized on(#hal.device.affinity<@__device_0>) : !stream.resource<transient>{%13#0} => !stream.timepoint
  %14 = stream.timepoint.join max(%result_timepoint, %result_timepoint_2) => !stream.timepoint
  %15 = stream.cmd.execute on(#hal.device.affinity<@__device_0>) await(%14) => with(%0 as %arg13: !stream.resource<external>{%c4800}, %1 as %arg14: !stream.resource<external>{%c1296}, %2 as %arg15: !stream.resource<external>{%c768}, %3 as %arg16: !stream.resource<external>{%c256}, %4 as %arg17: !stream.resource<external>{%c1536}, %5 as %arg18: !stream.resource<external>{%c576}, %6 as %arg19: !stream.resource<external>{%c2816}, %7 as %arg20: !stream.resource<external>{%c1024}, %8 as %arg21: !stream.resource<external>{%c4800}, %9 as %arg22: !stream.resource<external>{%c1600}, %10 as %arg23: !stream.resource<external>{%c7680}, %11 as %arg24: !stream.resource<external>{%c2304}, %12 as %arg25: !stream.resource<external>{%c9360}, %result as %arg26: !stream.resource<external>{%c5120}, %result_1 as %arg27: !stream.resource<transient>{%13#0}) {
    stream.cmd.dispatch @dense_dispatch_0::@dense_dispatch_0_conv_18x18x12x3x3x3_f32 {
      ro %arg13[%c0 for %c4800] : !stream.resource<external>{%c4800},
      ro %arg14[%c0 for %c1296] : !stream.resource<external>{%c1296},
      wo %arg27[%13#1 for %c15552] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_1::@dense_dispatch_1_matmul_like_324x16x12_f32 {
      ro %arg27[%13#1 for %c15552] : !stream.resource<transient>{%13#0},
      ro %arg15[%c0 for %c768] : !stream.resource<external>{%c768},
      wo %arg27[%13#2 for %c20736] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @dense_dispatch_2::@dense_dispatch_2_matmul_like_324x4x16_f32 {
        ro %arg27[%13#2 for %c20736] : !stream.resource<transient>{%13#0},
        ro %arg16[%c0 for %c256] : !stream.resource<external>{%c256},
        wo %arg27[%13#4 for %c5184] : !stream.resource<transient>{%13#0}
      }
      stream.cmd.dispatch @dense_dispatch_3::@dense_dispatch_3_slow_memcpy {
        ro %arg27[%13#1 for %c15552] : !stream.resource<transient>{%13#0},
        rw %arg27[%13#3 for %c20736] : !stream.resource<transient>{%13#0}
      }
    }
    stream.cmd.dispatch @dense_dispatch_4::@dense_dispatch_4_slow_memcpy {
      ro %arg27[%13#4 for %c5184] : !stream.resource<transient>{%13#0},
      rw %arg27[%13#3 for %c20736] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_5::@dense_dispatch_5_matmul_like_324x24x16_f32 {
      ro %arg27[%13#3 for %c20736] : !stream.resource<transient>{%13#0},
      ro %arg17[%c0 for %c1536] : !stream.resource<external>{%c1536},
      wo %arg27[%13#5 for %c31104] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @dense_dispatch_6::@dense_dispatch_6_matmul_like_324x6x24_f32 {
        ro %arg27[%13#5 for %c31104] : !stream.resource<transient>{%13#0},
        ro %arg18[%c0 for %c576] : !stream.resource<external>{%c576},
        wo %arg27[%13#7 for %c7776] : !stream.resource<transient>{%13#0}
      }
      stream.cmd.dispatch @dense_dispatch_7::@dense_dispatch_7_slow_memcpy {
        ro %arg27[%13#3 for %c20736] : !stream.resource<transient>{%13#0},
        rw %arg27[%13#6 for %c28512] : !stream.resource<transient>{%13#0}
      }
    }
    stream.cmd.dispatch @dense_dispatch_8::@dense_dispatch_8_slow_memcpy {
      ro %arg27[%13#7 for %c7776] : !stream.resource<transient>{%13#0},
      rw %arg27[%13#6 for %c28512] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_9::@dense_dispatch_9_matmul_like_324x32x22_f32 {
      ro %arg27[%13#6 for %c28512] : !stream.resource<transient>{%13#0},
      ro %arg19[%c0 for %c2816] : !stream.resource<external>{%c2816},
      wo %arg27[%13#8 for %c41472] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @dense_dispatch_10::@dense_dispatch_10_matmul_like_324x8x32_f32 {
        ro %arg27[%13#8 for %c41472] : !stream.resource<transient>{%13#0},
        ro %arg20[%c0 for %c1024] : !stream.resource<external>{%c1024},
        wo %arg27[%13#10 for %c10368] : !stream.resource<transient>{%13#0}
      }
      stream.cmd.dispatch @dense_dispatch_11::@dense_dispatch_11_slow_memcpy {
        ro %arg27[%13#6 for %c28512] : !stream.resource<transient>{%13#0},
        rw %arg27[%13#9 for %c38880] : !stream.resource<transient>{%13#0}
      }
    }
    stream.cmd.dispatch @dense_dispatch_12::@dense_dispatch_12_slow_memcpy {
      ro %arg27[%13#10 for %c10368] : !stream.resource<transient>{%13#0},
      rw %arg27[%13#9 for %c38880] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_13::@dense_dispatch_13_matmul_like_324x40x30_f32 {
      ro %arg27[%13#9 for %c38880] : !stream.resource<transient>{%13#0},
      ro %arg21[%c0 for %c4800] : !stream.resource<external>{%c4800},
      wo %arg27[%13#11 for %c51840] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @dense_dispatch_14::@dense_dispatch_14_matmul_like_324x10x40_f32 {
        ro %arg27[%13#11 for %c51840] : !stream.resource<transient>{%13#0},
        ro %arg22[%c0 for %c1600] : !stream.resource<external>{%c1600},
        wo %arg27[%13#13 for %c12960] : !stream.resource<transient>{%13#0}
      }
      stream.cmd.dispatch @dense_dispatch_15::@dense_dispatch_15_slow_memcpy {
        ro %arg27[%13#9 for %c38880] : !stream.resource<transient>{%13#0},
        rw %arg27[%13#12 for %c51840] : !stream.resource<transient>{%13#0}
      }
    }
    stream.cmd.dispatch @dense_dispatch_16::@dense_dispatch_16_slow_memcpy {
      ro %arg27[%13#13 for %c12960] : !stream.resource<transient>{%13#0},
      rw %arg27[%13#12 for %c51840] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_17::@dense_dispatch_17_matmul_like_324x48x40_f32 {
      ro %arg27[%13#12 for %c51840] : !stream.resource<transient>{%13#0},
      ro %arg23[%c0 for %c7680] : !stream.resource<external>{%c7680},
      wo %arg27[%13#14 for %c62208] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.concurrent {
      stream.cmd.dispatch @dense_dispatch_18::@dense_dispatch_18_matmul_like_324x12x48_f32 {
        ro %arg27[%13#14 for %c62208] : !stream.resource<transient>{%13#0},
        ro %arg24[%c0 for %c2304] : !stream.resource<external>{%c2304},
        wo %arg27[%13#16 for %c15552] : !stream.resource<transient>{%13#0}
      }
      stream.cmd.dispatch @dense_dispatch_19::@dense_dispatch_19_slow_memcpy {
        ro %arg27[%13#12 for %c51840] : !stream.resource<transient>{%13#0},
        rw %arg27[%13#15 for %c67392] : !stream.resource<transient>{%13#0}
      }
    }
    stream.cmd.dispatch @dense_dispatch_20::@dense_dispatch_20_slow_memcpy {
      ro %arg27[%13#16 for %c15552] : !stream.resource<transient>{%13#0},
      rw %arg27[%13#15 for %c67392] : !stream.resource<transient>{%13#0}
    }
    stream.cmd.dispatch @dense_dispatch_21::@dense_dispatch_21_conv_16x16x5x3x3x52_f32 {
      ro %arg27[%13#15 for %c67392] : !stream.resource<transient>{%13#0},
      ro %arg25[%c0 for %c9360] : !stream.resource<external>{%c9360},
      wo %arg26[%c0_0 for %c5120] : !stream.resource<external>{%c5120}
    }
  } => !stream.timepoint
  %16 = stream.resource.dealloca on(#hal.device.affinity<@__device_0>) await(%15) => %result_1 : !stream.resource<transient>{%13#0} => !stream.timepoint
  %17 = stream.timepoint.join max(%16, %15) => !stream.timepoint
  %18 = stream.timepoint.await %17 => %result : !stream.resource<external>{%c5120}
  %19 = stream.tensor.export on(#hal.device.affinity<@__device_0>) %18 : tensor<1x16x16x5xf32> in !stream.resource<external>{%c5120} -> !hal.buffer_view
  util.return %19 : !hal.buffer_view
}

